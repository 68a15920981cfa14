import type { DeadLetterFilter, DeadLetterGroup, DeadLetterRow, DeadLetterStore } from '@millrace/delivery'
import type { EventLog } from '@millrace/log'
import { eventName, formatTime, type JsonObject, type StoredEvent, storedEvents } from '@millrace/protocol'
import type { Shard } from '../host/shard.ts'
import { deadLetterGroups } from './dead-letter-groups.ts'

type ShardOf = (partition: number) => Pick<Shard, 'renderedRequest'>

/** Dead letters for people. */
export class DeadLetters {
  readonly #log: EventLog
  readonly #store: DeadLetterStore
  readonly #shardOf: ShardOf

  /** @param shardOf the shard that owns a partition. */
  constructor(log: EventLog, store: DeadLetterStore, shardOf: ShardOf) {
    this.#log = log
    this.#store = store
    this.#shardOf = shardOf
  }

  /** A page, newest first. @param before the page starts after this row; null: at the newest. */
  page(filter: DeadLetterFilter, limit: number, before: number | null) {
    return this.#store.page({ filter, limit, before })
  }

  /** Largest first; at most `MAX_GROUPS`. */
  groups(filter: DeadLetterFilter): Promise<DeadLetterGroup[]> {
    return deadLetterGroups(this.#store, filter)
  }

  find(id: string): Promise<DeadLetterRow | undefined> {
    return this.#store.get(id)
  }

  /** A dead letter with its payloads; the request of an event without attempts of its own is rendered again. */
  async detail(row: DeadLetterRow) {
    return deadLetterDetail(row, this.#log, this.#shardOf(row.partition))
  }
}

/** A dead letter in a list. @see contracts/delivery.md §6 */
export function deadLetterSummary(row: DeadLetterRow) {
  const event = JSON.parse(row.event) as StoredEvent
  const last = row.requests?.findLast(({ attempts }) => attempts.length > 0)?.attempts.at(-1)
  return {
    id: row.id,
    state: row.state,
    stage: row.stage,
    reason: row.reason,
    messageId: event.messageId,
    eventType: event.type,
    eventName: eventName(event),
    userId: event.userId ?? null,
    sourceId: row.sourceId,
    destinationId: row.destinationId,
    acceptedAt: formatTime(row.acceptedAt),
    deadAt: formatTime(row.deadAt),
    attempts: row.attempts,
    lastStatus: row.lastStatus === 0 ? null : row.lastStatus,
    lastAnswer: last?.text ?? row.lastAnswer,
    transformationVersionIds: row.versionIds,
  }
}

async function deadLetterDetail(row: DeadLetterRow, log: EventLog, shard: ReturnType<ShardOf>) {
  const kept = row.requests?.findLast((request) => request !== null)
  const delivered = JSON.parse(row.event) as StoredEvent
  const request = kept === undefined ? await rendered(row, shard) : shown(kept)
  const last = kept?.attempts.at(-1)
  const answer = last ?? (row.lastStatus === 0 ? undefined : { status: row.lastStatus, text: row.lastAnswer ?? '' })
  return {
    ...deadLetterSummary(row),
    event: (await storedEvent(row, log)) ?? delivered,
    request: request ?? null,
    answer: answer === undefined ? null : { status: answer.status, text: answer.text },
    history: (row.requests ?? []).flatMap(({ attempts }) => attempts),
  }
}

/**
 * The event as accepted. The copy in the dead letter, used if the log has deleted the event, has delivery times set.
 */
async function storedEvent(row: DeadLetterRow, log: EventLog): Promise<JsonObject | undefined> {
  const [record] = await log.get(row.partition, [row.offset])
  return record && storedEvents(record).events[row.index]
}

function shown({ method, endpoint, headers }: { method: string; endpoint: string; headers: object }) {
  return { method, endpoint, headers }
}

async function rendered(row: DeadLetterRow, shard: ReturnType<ShardOf>) {
  if (row.stage !== 'delivery') return undefined
  const request = await shard.renderedRequest(row)
  return request && { ...shown(request), rendered: true }
}
