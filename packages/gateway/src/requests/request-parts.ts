import { type EventType, hash53, type JsonObject, normalizedId, type Route } from '@millrace/protocol'
import { BatchText, type EventsMember, partOfParsed } from '../events/batch-text.ts'
import type { GatewaySource } from '../gateway-source.ts'
import { Refusal } from '../refusals.ts'

/** How much larger than the largest body the records of one request may be together: each has a copy of the envelope. */
export const MAX_COPIED_BYTES = 256 * 1024

/** A request that passed every check, or a part of it. */
export interface RequestContent {
  readonly body: Buffer
  /** The parsed body; undefined for a pixel, which has no JSON body. */
  readonly parsed: JsonObject | undefined
  readonly events: readonly JsonObject[]
  /** The types of the events. */
  readonly types: readonly EventType[]
}

/** The events of a request that go to one partition of the log, in the order of the request. */
export interface RequestPart extends RequestContent {
  readonly partition: number
}

/**
 * Cuts a request by the partitions of its events. A source with one order shard has one partition; with n of them its users
 * are spread over n partitions, or all if the log has fewer, beginning with its own.
 *
 * @param maxBytes of all bodies together.
 * @see contracts/delivery.md §4 [D151]
 */
export function partsOf(
  content: RequestContent,
  route: Route,
  { partition, orderShards }: Pick<GatewaySource, 'partition' | 'orderShards'>,
  partitions: number,
  maxBytes: number,
): readonly RequestPart[] | Refusal {
  const { body, parsed, events, types } = content
  if (orderShards === 1 || partitions === 1) return [{ body, parsed, events, types, partition }]
  const indexes = new Map<number, number[]>()
  for (const [i, event] of events.entries()) {
    const own = (partition + (hash53(orderId(event)) % orderShards)) % partitions
    const known = indexes.get(own)
    if (known === undefined) indexes.set(own, [i])
    else known.push(i)
  }
  const [first, ...others] = indexes.keys()
  if (others.length === 0) return [{ body, parsed, events, types, partition: first! }]
  const member: EventsMember = route === 'webhook' ? 'payload' : 'batch'
  const text = new BatchText(body, member)
  const bytes = indexes.values().reduce((sum, each) => sum + text.size(each), 0)
  if (bytes > maxBytes) return new Refusal('body_size')
  return Array.from(indexes, ([partition, own]) => ({
    body: text.write(own),
    parsed: parsed && partOfParsed(parsed, member, own),
    events: own.map((i) => events[i]!),
    types: own.map((i) => types[i]!),
    partition,
  }))
}

/** The id by which a source with several order shards keeps order. */
function orderId(event: JsonObject): string {
  return normalizedId(event['anonymousId']) ?? normalizedId(event['userId']) ?? ''
}
