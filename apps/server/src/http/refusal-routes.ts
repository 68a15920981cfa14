import type { KnownRefusal } from '@millrace/gateway'
import { ApiError, closed, Id, named, type RouteDescription, refusals, Time, Type } from '@millrace/openapi'
import { formatTime } from '@millrace/protocol'
import type { FastifyPluginAsync } from 'fastify'

const REFUSALS_IN_WORDS: RouteDescription = {
  tag: 'Events',
  summary: 'List refused ingest requests',
  details:
    'The last 1,000, newest first, without payloads: since the server started, or in a cluster of all gateways. With `sourceId`, only those with a write key of that source.',
  access: 'token',
  query: { sourceId: Type.String() },
  answers: {
    200: {
      text: 'The refused requests.',
      schema: closed({
        refusals: Type.Array(
          named(
            'Refusal',
            closed({
              at: Time,
              route: Type.String(),
              status: Type.Integer({ description: 'Status of the reason; a pixel itself is answered with 200.' }),
              text: Type.String(),
              sourceId: Type.Union([Id, Type.Null()], {
                description: 'null: the key was missing or unknown.',
              }),
              keyStart: Type.String({ maxLength: 4, description: 'The first 4 characters of the write key.' }),
              address: Type.String(),
              userAgent: Type.String(),
              bytes: Type.Integer({ minimum: 0, description: 'Size of the body, from the header or as received.' }),
            }),
          ),
        ),
      }),
      examples: {
        refusals: {
          refusals: [
            {
              at: '2026-03-04T09:15:31.900Z',
              route: '/v1/batch',
              status: 401,
              text: 'Invalid Write Key',
              sourceId: null,
              keyStart: '3PS3',
              address: '203.0.113.9',
              userAgent: 'curl/8.12.1',
              bytes: 512,
            },
          ],
        },
      },
    },
    ...refusals({ 400: ['Invalid sourceId'] }),
  },
}

interface Refusals {
  list(sourceId?: string): KnownRefusal[] | Promise<KnownRefusal[]>
}

/** Refused requests, below /v2. @see contracts/dashboard.md §4 N5 */
export function refusalRoutes(book: Refusals): FastifyPluginAsync {
  return async (app) => {
    app.get('/refusals', { config: { describe: REFUSALS_IN_WORDS } }, async ({ query }) => {
      const { sourceId } = query as Readonly<Record<string, unknown>>
      if (sourceId !== undefined && typeof sourceId !== 'string') throw new ApiError('bad_request', 'Invalid sourceId')
      const known = await book.list(sourceId || undefined)
      return { refusals: known.map((each) => ({ ...each, at: formatTime(each.at) })) }
    })
  }
}
