import type { IncomingMessage } from 'node:http'
import type { DedupRule, EventLog } from '@millrace/log'
import { ENRICHMENT_RULES, type EventRecord } from '@millrace/protocol'
import { type Clock, RateLimiter } from '@millrace/std'
import type { GatewaySource } from '../gateway-source.ts'
import type { IngestRoute } from '../ingest-routes.ts'
import type { NamedSource } from '../named-source.ts'
import { checkPixel } from '../pixel.ts'
import { Refusal } from '../refusals.ts'
import { clientAddress } from '../requests/client-address.ts'
import type { Exchange } from '../requests/exchange.ts'
import { MAX_COPIED_BYTES, partsOf, type RequestContent, type RequestPart } from '../requests/request-parts.ts'
import { Seeds } from '../seeds.ts'
import { checkWebhook } from '../webhook.ts'
import { dedupRuleOf } from './dedup-rule.ts'
import { checkEvents, type EventLimits, parseEventBody } from './event-check.ts'
import { messageHashesOf } from './message-hashes.ts'

/** A request that passed every check and is ready to be stored. */
export interface Draft {
  readonly sourceId: string
  readonly acceptedAt: number
  /** One for each partition that gets events. */
  readonly records: readonly DraftRecord[]
  /** Number of events. */
  readonly events: number
  /** Absent if every event is stored. */
  readonly dedup: DedupRule | undefined
  /** Headers of the answer, if the source has a rate limit. */
  readonly headers: Readonly<Record<string, string>> | undefined
}

/** A record to store, with the part of the request that it holds. */
export interface DraftRecord {
  readonly part: RequestPart
  readonly record: EventRecord
  /** Indexes of the events that the log found to be duplicates; undefined without any. */
  duplicates: ReadonlySet<number> | undefined
}

export interface DraftsOptions {
  readonly sources: NamedSource
  readonly limits: EventLimits & { readonly maxBodyBytes: number }
  readonly log: Pick<EventLog, 'partitions'>
  /** The number of gateways that share the rate limit of a source; absent: this one alone. */
  readonly gateways?: (() => number) | undefined
  readonly clock: Clock
}

/** How a batch of low priority is stored, on any route. */
const BACKFILL = { record: 'backfill' } as const

/** Checks the content of requests and makes their records: checks 9 to 13 of contracts/ingest.md §6. */
export class Drafts {
  readonly #options: DraftsOptions
  readonly #rates: RateLimiter
  readonly #seeds = new Seeds()

  constructor(options: DraftsOptions) {
    this.#options = options
    this.#rates = new RateLimiter(options.clock)
  }

  /** @param known undefined if the body names the source. */
  ofBody(exchange: Exchange, route: IngestRoute, known: GatewaySource | undefined, body: Buffer): Draft | Refusal {
    const { sources, limits, clock } = this.#options
    if (known?.webhook !== undefined) {
      const seed = this.#seeds.next()
      const hook = checkWebhook(exchange.request.headers, body, known.webhook, seed, limits, clock.now())
      if (hook instanceof Refusal) return hook
      return this.#draft(exchange.request, route, known, seed, hook)
    }
    const parsed = parseEventBody(body, route, limits)
    if (parsed instanceof Refusal) return parsed
    const source = known ?? sources.ofBody(exchange, route, parsed.value)
    if (source instanceof Refusal) return source
    const checked = checkEvents(parsed, body, route, limits)
    if (checked instanceof Refusal) return checked
    const storing = route.batchFactor !== undefined && isLowPriority(exchange.request) ? BACKFILL : route
    const content = { body, parsed: parsed.value, ...checked }
    return this.#draft(exchange.request, storing, source, this.#seeds.next(), content)
  }

  /** The event of a pixel, from its query. */
  ofPixel(exchange: Exchange, route: IngestRoute, source: GatewaySource, query: string): Draft | Refusal {
    const checked = checkPixel(query, route.record === 'pixel-page' ? 'page' : 'track', this.#options.limits)
    if (checked instanceof Refusal) return checked
    const content = { body: Buffer.from(query, 'latin1'), parsed: undefined, ...checked }
    return this.#draft(exchange.request, route, source, this.#seeds.next(), content)
  }

  /** Events that could not be stored do not count against the rate limit. */
  giveBack({ sourceId, events }: Draft): void {
    this.#rates.giveBack(sourceId, events)
  }

  #draft(
    request: IncomingMessage,
    route: Pick<IngestRoute, 'record' | 'readsAttempt'>,
    source: GatewaySource,
    seed: Uint8Array,
    content: RequestContent,
  ): Draft | Refusal {
    const { log, limits, clock } = this.#options
    const parts = partsOf(content, route.record, source, log.partitions, limits.maxBodyBytes + MAX_COPIED_BYTES)
    if (parts instanceof Refusal) return parts
    const events = content.events.length
    const gateways = this.#options.gateways?.()
    const { isAllowed, headers } = this.#rates.take(source.id, source.rateLimitEventsPerMinute, events, gateways)
    if (!isAllowed) return new Refusal('rate_limit', { headers })
    const acceptedAt = clock.now()
    const address = clientAddress(request)
    const records = parts.map((part, i) => {
      const own = i === 0 ? seed : this.#seeds.next()
      const header = {
        sourceId: source.id,
        route: route.record,
        acceptedAt,
        clientAddress: address,
        seed: own,
        rules: ENRICHMENT_RULES,
        policySet: 0,
        messageHashes: messageHashesOf(part.events, own),
      }
      return { part, record: { header, body: part.body }, duplicates: undefined }
    })
    const dedup = dedupRuleOf(source, route, content.parsed)
    return { sourceId: source.id, acceptedAt, records, events, dedup, headers }
  }
}

/** Whether a batch is a backfill: it may wait while live events are due. */
function isLowPriority({ headers }: IncomingMessage): boolean {
  const priority = headers['x-millrace-priority']
  return typeof priority === 'string' && priority.trim().toLowerCase() === 'low'
}
