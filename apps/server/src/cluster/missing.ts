import { ApiError, type RouteDescription, refusals } from '@millrace/openapi'
import type { FastifyPluginAsync } from 'fastify'
import type { Part } from '../parts/part.ts'

/** What a control process of a cluster refuses, with the reason. @see contracts/cluster.md, the table of what is built */
export function missingParts(): Part {
  return {
    role: 'control',
    v2Routes: [missingRoutes],
    [Symbol.asyncDispose]: async () => {},
  }
}

const missingRoutes: FastifyPluginAsync = async (app) => {
  app.post('/admin/backup', {
    config: {
      ...{ role: 'admin', body: 'optional', audited: { action: 'create', kind: 'backup' } },
      describe: refused('Administration', 'Create a backup', 'Back up Postgres', 409),
    },
    handler: refuse('conflict', 'Back up Postgres'),
  })
}

function refuse(code: 'unavailable' | 'conflict', text: string) {
  return async () => {
    throw new ApiError(code, text)
  }
}

function refused(tag: string, summary: string, text: string, status: 409 | 503 = 503): RouteDescription {
  return { tag, summary, details: `${text}.`, access: 'token', answers: refusals({ [status]: [text] }) }
}
