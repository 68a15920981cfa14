import { ApiError, closed, Id, notFound, oneOf, type RouteDescription, refusals } from '@millrace/openapi'
import type { FastifyPluginAsync } from 'fastify'
import type { SchemaCatalog } from '../schema-catalog.ts'
import { CatalogOutcomeUnknownError } from '../thread/catalog-calls.ts'

const SOURCE_ID = '3iidO0kXIpgrmam9JhPLS2gpoVe'

const PURGE_IN_WORDS: RouteDescription = {
  tag: 'Schema catalog',
  summary: 'Remove the catalog of a source',
  details:
    'Removes models, versions, samples and values, also of a deleted source. Counting continues with the next event.',
  access: 'token',
  pathParameters: { id: Id },
  answers: {
    204: { text: 'Removed.' },
    ...refusals({ 404: [`Source with id ${SOURCE_ID} not found`] }),
  },
}

const REBUILD_IN_WORDS: RouteDescription = {
  tag: 'Administration',
  summary: 'Rebuild the schema catalog from the log',
  details:
    'For a damaged catalog. Counts each event in the log once, and keeps readable ids. GET /schemas/status shows the progress.',
  access: 'token',
  answers: {
    202: {
      text: 'Started.',
      schema: closed({ rebuild: closed({ state: oneOf(['running']) }) }),
      examples: { rebuild: { rebuild: { state: 'running' } } },
    },
  },
}

/** What people may do to the catalog, below /v2. @see contracts/schema-catalog.md §11 [D308] [D339] */
export function catalogRoutes(catalog: Pick<SchemaCatalog, 'ask' | 'rebuild'>): FastifyPluginAsync {
  return async (app) => {
    app.delete(
      '/sources/:id/catalog',
      { config: { role: 'admin', audited: { action: 'delete', kind: 'catalog' }, describe: PURGE_IN_WORDS } },
      async (request, reply) => {
        const { id } = request.params as { id: string }
        const audit = () => request.audit({ action: 'delete', kind: 'catalog', resourceId: id, diff: [] })
        const wasKnown = await catalog.ask('purge', id).catch((error) => refuse(error, audit))
        if (!wasKnown) throw notFound('Source', id)
        audit()
        return reply.code(204).send()
      },
    )
    app.post(
      '/admin/rebuild-catalog',
      {
        config: {
          role: 'admin',
          body: 'ignored',
          audited: { action: 'update', kind: 'catalog' },
          describe: REBUILD_IN_WORDS,
        },
      },
      async (request, reply) => {
        const audit = () => request.audit({ action: 'update', kind: 'catalog', resourceId: null, diff: [] })
        await catalog.rebuild().catch((error) => refuse(error, audit))
        audit()
        return reply.code(202).send({ rebuild: { state: 'running' } })
      },
    )
  }
}

/** @param audit what may be done after all. */
function refuse(error: Error, audit: () => void): never {
  if (!(error instanceof CatalogOutcomeUnknownError)) throw new ApiError('unavailable', 'Service unavailable')
  audit()
  throw new ApiError('unavailable', 'Service unavailable: the request may still be carried out')
}
