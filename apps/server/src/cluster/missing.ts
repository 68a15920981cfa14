import { ApiError, type RouteDescription, refusals } from '@millrace/openapi'
import type { FastifyPluginAsync } from 'fastify'
import type { Part } from '../parts/part.ts'

const NO_REFUSALS = 'Refused requests are not available in a cluster yet'

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
  // Each gateway has only its own.
  app.get('/refusals', {
    config: { describe: refused('Events', 'List refused ingest requests', NO_REFUSALS) },
    handler: refuse('unavailable', NO_REFUSALS),
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
