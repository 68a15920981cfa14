import type { IncomingMessage, ServerResponse } from 'node:http'
import { ApiError, type RouteDescription, refusals } from '@millrace/openapi'
import { requestId } from '@millrace/std'
import type { FastifyPluginAsync } from 'fastify'
import type { Part } from '../parts/part.ts'

const NO_CATALOG = 'The schema catalog is not available in a cluster yet'
const SCHEMA_PREFIX = '/schemas/'

/** What a control process of a cluster refuses, with the reason. @see contracts/cluster.md, the table of what is built */
export function missingParts(): Part {
  return {
    role: 'control',
    handle: refuseSchemas,
    v2Routes: [missingRoutes],
    [Symbol.asyncDispose]: async () => {},
  }
}

/** The routes of the schema catalog, which answer without Fastify. */
function refuseSchemas(request: IncomingMessage, response: ServerResponse): boolean {
  if (!request.url!.startsWith(SCHEMA_PREFIX)) return false
  const body = JSON.stringify({ error: NO_CATALOG, code: 'unavailable', details: null })
  response.writeHead(503, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': requestId(request),
  })
  response.end(body)
  return true
}

const missingRoutes: FastifyPluginAsync = async (app) => {
  const catalog = { action: 'delete', kind: 'catalog' } as const
  app.delete('/sources/:id/catalog', {
    config: {
      role: 'admin',
      audited: catalog,
      describe: refused('Events', 'Purge the schema catalog of a source', NO_CATALOG),
    },
    handler: refuse('unavailable', NO_CATALOG),
  })
  app.post('/admin/rebuild-catalog', {
    config: {
      ...{ role: 'admin', body: 'ignored', audited: { action: 'update', kind: 'catalog' } },
      describe: refused('Administration', 'Rebuild the schema catalog', NO_CATALOG),
    },
    handler: refuse('unavailable', NO_CATALOG),
  })
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
