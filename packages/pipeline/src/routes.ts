import { DEAD_LETTER_STATES, type DeadLetterFilter, STAGES } from '@millrace/delivery'
import { parseTime } from '@millrace/protocol'
import type { FastifyPluginAsync } from 'fastify'
import { deadLetterJobRoutes } from './dead-letter-jobs/routes.ts'
import { deadLetterDetail, deadLetterSummary } from './dead-letters.ts'
import type { Pipeline } from './pipeline.ts'
import { Refused } from './refused.ts'

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 500
type Query = Readonly<Record<string, unknown>>

/**
 * What people may see of deliveries, below /v2; whoever registers the routes has checked the credentials.
 *
 * @see contracts/delivery.md §6, §8, §10
 */
export function deliveryRoutes(pipeline: Pipeline): FastifyPluginAsync {
  return async (app) => {
    await app.register(deadLetterJobRoutes(pipeline))

    app.get('/events/:messageId', async (request) => {
      const { messageId } = request.params as { messageId: string }
      const events = await pipeline.trace(messageId, text(request.query as Query, 'sourceId'))
      if (events.length === 0) throw new Refused('not_found', `Event with messageId ${messageId} not found`)
      return { events }
    })

    app.get('/destinations/:id/delivery', async (request) => {
      const { id } = request.params as { id: string }
      const state = await pipeline.state(id)
      if (state === undefined) throw new Refused('not_found', `Destination with id ${id} not found`)
      return state
    })

    app.get('/dead-letters', async (request) => {
      const query = request.query as Query
      const limit = limitOf(query)
      const before = cursorOf(query)
      const { rows, next } = await pipeline.deadLetters(filterOf(query), limit, before)
      // Counting a list that grows with traffic would cost more than its page: the total is known when this is all.
      const total = before === null && next === null ? rows.length : null
      return { deadLetters: rows.map(deadLetterSummary), paging: { total, next: nextPath(query, next) } }
    })

    app.get('/dead-letters/:id', async (request) => {
      const { id } = request.params as { id: string }
      const row = await pipeline.deadLetter(id)
      if (row === undefined) throw new Refused('not_found', `Dead letter with id ${id} not found`)
      return { deadLetter: await deadLetterDetail(row, pipeline.log, pipeline.delivery(row.destinationId)) }
    })
  }
}

function filterOf(query: Query): DeadLetterFilter {
  return {
    destinationId: text(query, 'destinationId'),
    sourceId: text(query, 'sourceId'),
    stage: oneOf(query, 'stage', STAGES),
    reason: text(query, 'reason'),
    state: oneOf(query, 'state', DEAD_LETTER_STATES) ?? 'open',
    userId: text(query, 'userId'),
    messageId: text(query, 'messageId'),
    from: time(query, 'from'),
    to: time(query, 'to'),
  }
}

function limitOf(query: Query): number {
  const given = text(query, 'limit')
  if (given === undefined) return DEFAULT_LIMIT
  const limit = /^\d{1,3}$/.test(given) ? Number(given) : 0
  if (limit < 1 || limit > MAX_LIMIT) throw new Refused('bad_request', 'Invalid limit')
  return limit
}

/** `page` is refused: these lists grow while they are read. */
function cursorOf(query: Query): number | null {
  const given = text(query, 'cursor')
  if (query['page'] !== undefined) throw new Refused('bad_request', 'Invalid cursor')
  if (given === undefined) return null
  const match = /^dl\.(\d{1,15})$/.exec(Buffer.from(given, 'base64url').toString('latin1'))
  if (match === null) throw new Refused('bad_request', 'Invalid cursor')
  return Number(match[1])
}

function nextPath(query: Query, next: number | null): string {
  if (next === null) return ''
  const kept = Object.entries(query).filter(([name]) => name !== 'cursor') as [string, string][]
  const cursor = Buffer.from(`dl.${next}`).toString('base64url')
  return `/v2/dead-letters?${new URLSearchParams([...kept, ['cursor', cursor]])}`
}

function text(query: Query, name: string): string | undefined {
  const value = query[name]
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string') throw new Refused('bad_request', `Invalid ${name}`)
  return value
}

function oneOf<T extends string>(query: Query, name: string, allowed: readonly T[]): T | undefined {
  const value = text(query, name)
  if (value === undefined) return undefined
  if (!(allowed as readonly string[]).includes(value)) throw new Refused('bad_request', `Invalid ${name}`)
  return value as T
}

function time(query: Query, name: string): number | undefined {
  const value = text(query, name)
  if (value === undefined) return undefined
  const parsed = parseTime(value)
  if (parsed === undefined) throw new Refused('bad_request', `Invalid time in ${name}`)
  return parsed
}
