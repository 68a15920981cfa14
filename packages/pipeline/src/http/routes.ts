import { DEAD_LETTER_STATES, type DeadLetterFilter, STAGES } from '@millrace/delivery'
import {
  ApiError,
  choice,
  limitOf,
  nextPath,
  notFound,
  pageOf,
  type Query,
  rowBefore,
  rowCursor,
  text,
} from '@millrace/openapi'
import type { FastifyPluginAsync } from 'fastify'
import { groupJson } from '../events/dead-letter-groups.ts'
import { deadLetterSummary } from '../events/dead-letters.ts'
import { eventsPage } from '../events/event-route.ts'
import type { DeliveryHost } from '../host/delivery-host.ts'
import { jobRoutes } from '../jobs/routes.ts'
import { DEAD_LETTERS_IN_WORDS } from './dead-letters.openapi.ts'
import { LIST_IN_WORDS, STATE_IN_WORDS, STATES_IN_WORDS, TRACE_IN_WORDS } from './events.openapi.ts'
import { time } from './time.ts'

const CURSOR = 'dl'

/**
 * Routes below /v2 that show deliveries; the caller that registers them has checked the credentials.
 *
 * @see contracts/delivery.md §6, §8, §10
 */
export function deliveryRoutes(
  delivery: Pick<DeliveryHost, 'jobs' | 'events' | 'trace' | 'states' | 'deadLetters'>,
): FastifyPluginAsync {
  const { jobs, events, states, deadLetters } = delivery
  return async (app) => {
    await app.register(jobRoutes(jobs))

    app.get('/events', { config: { describe: LIST_IN_WORDS } }, (request) => eventsPage(events, request.query as Query))

    app.get('/events/:messageId', { config: { describe: TRACE_IN_WORDS } }, async (request) => {
      const { messageId } = request.params as { messageId: string }
      const query = request.query as Query
      const found = await delivery.trace(messageId, {
        sourceId: text(query, 'sourceId'),
        render: text(query, 'render'),
      })
      if (found.length === 0) throw new ApiError('not_found', `Event with messageId ${messageId} not found`)
      return { events: found }
    })

    app.get('/destinations/:id/delivery', { config: { describe: STATE_IN_WORDS } }, async (request) => {
      const { id } = request.params as { id: string }
      const state = await states.of(id)
      if (state === undefined) throw notFound('Destination', id)
      return state
    })

    app.get('/delivery', { config: { describe: STATES_IN_WORDS } }, async (request) => {
      const { items, paging } = pageOf(states.ids(), '/v2/delivery', request.query as Query)
      return { delivery: await states.list(items), paging }
    })

    app.get('/dead-letters', { config: { describe: DEAD_LETTERS_IN_WORDS.list } }, async (request) => {
      const query = request.query as Query
      const limit = limitOf(query)
      const before = rowBefore(query, CURSOR)
      const { rows, next } = await deadLetters.page(filterOf(query), limit, before)
      // Counting a list that grows with traffic would cost more than its page: the total is known only if this page
      // holds everything.
      const total = before === null && next === null ? rows.length : null
      const cursor = rowCursor(CURSOR, next)
      return {
        deadLetters: rows.map(deadLetterSummary),
        paging: { total, next: nextPath('/v2/dead-letters', query, cursor) },
      }
    })

    app.get('/dead-letters/groups', { config: { describe: DEAD_LETTERS_IN_WORDS.groups } }, async (request) => {
      const groups = await deadLetters.groups(filterOf(request.query as Query))
      return { groups: groups.map(groupJson) }
    })

    app.get('/dead-letters/:id', { config: { describe: DEAD_LETTERS_IN_WORDS.get } }, async (request) => {
      const { id } = request.params as { id: string }
      const row = await deadLetters.find(id)
      if (row === undefined) throw notFound('Dead letter', id)
      return { deadLetter: await deadLetters.detail(row) }
    })
  }
}

function filterOf(query: Query): DeadLetterFilter {
  return {
    destinationId: text(query, 'destinationId'),
    sourceId: text(query, 'sourceId'),
    stage: choice(query, 'stage', STAGES),
    reason: text(query, 'reason'),
    state: choice(query, 'state', DEAD_LETTER_STATES) ?? 'open',
    userId: text(query, 'userId'),
    messageId: text(query, 'messageId'),
    from: time(query, 'from'),
    to: time(query, 'to'),
  }
}
