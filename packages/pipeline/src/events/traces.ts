import {
  type LaneEvent,
  outcomeOfDeadLetter,
  type Recorded,
  type RequestHistory,
  type ShardStore,
} from '@millrace/delivery'
import type { LogReader } from '@millrace/log'
import {
  type EventPosition,
  formatPosition,
  formatTime,
  type StoredBatch,
  type StoredEvent,
  setDeliveryTimes,
  storedEvents,
} from '@millrace/protocol'
import type { Clock } from '@millrace/std'
import type { DestinationDelivery } from '../delivery/destination-delivery.ts'
import { type OwnersWait, type ToldWaiting, toldWaiting, waitElsewhere } from '../delivery/why-waiting.ts'
import type { MessageIndex } from '../reading/message-index.ts'
import type { Rendered, Rendering } from '../stages/rendering.ts'

/** The outcome of an event at one destination. */
interface Journey {
  readonly destinationId: string
  readonly outcome: string
  readonly reason: string | null
  readonly replayId: string | null
  readonly transformationVersionIds: readonly string[]
  readonly configRevision: number | null
  /** Only while retrying. */
  readonly nextAttemptAt?: string
  /** Only while blocked: messageId of the earlier event of the same user. */
  readonly blockedBy?: string
  /** Only without a final outcome. */
  readonly waiting?: ToldWaiting
  readonly requests: readonly TracedRequest[]
  /** For the requested destination: the results of its user code and its transformation for the event. */
  readonly rendered?: Rendered & {
    /** Whether the current configuration is the one that applied to the event. */
    readonly versions: 'recorded' | 'today'
  }
}

interface TracedRequest {
  readonly method?: string
  readonly endpoint?: string
  /** The request was not stored: it is rendered again from the stored event. */
  readonly rendered?: true
  readonly attempts: readonly object[]
}

export interface TraceSources {
  readonly log: LogReader
  /** Those of the shard. */
  readonly partitions: readonly number[]
  readonly store: ShardStore
  readonly index: MessageIndex
  readonly deliveries: ReadonlyMap<string, DestinationDelivery>
  readonly clock: Clock
  /** Absent: the lanes are of this process. */
  readonly ownersWait?: OwnersWait
}

/** Selects events, and the parts of their traces. */
export interface TraceAsked {
  readonly messageId: string
  readonly sourceId?: string | undefined
  /** Id of a destination. */
  readonly render?: string | undefined
}

/**
 * The trace of each accepted event of the shard with a messageId.
 *
 * @see contracts/delivery.md §8 [D623]
 */
export async function traceEvents(
  sources: TraceSources,
  { messageId, sourceId, render }: TraceAsked,
): Promise<object[]> {
  const { log, partitions, index } = sources
  const traces: object[] = []
  for (const position of await index.find(messageId)) {
    if (!partitions.includes(position.partition)) continue
    const [record] = await log.get(position.partition, [position.offset])
    if (record === undefined) continue
    const batch = storedEvents(record)
    const event = batch.events[position.index]
    if (event?.messageId !== messageId) continue
    const { header } = record
    if (sourceId !== undefined && sourceId !== header.sourceId) continue
    traces.push({
      messageId,
      sourceId: header.sourceId,
      acceptedAt: formatTime(header.acceptedAt),
      position: formatPosition(position),
      event: structuredClone(event),
      destinations: record.duplicates?.has(position.index)
        ? duplicateJourneys(sources, position, header.sourceId)
        : await journeys(sources, position, header.sourceId, timed(event, batch), render),
    })
  }
  return traces
}

/** The event as input of the stages. */
function timed(event: StoredEvent, batch: StoredBatch): StoredEvent {
  const copy = structuredClone(event)
  setDeliveryTimes(copy, batch)
  return copy
}

async function journeys(
  { store, deliveries, clock, ownersWait }: TraceSources,
  position: EventPosition,
  sourceId: string,
  event: StoredEvent,
  render: string | undefined,
): Promise<Journey[]> {
  const recorded = Map.groupBy(await store.outcomes.recorded({ ...position, sourceId }), ([id]) => id)
  const found: Journey[] = []
  for (const delivery of deliveries.values()) {
    const { feed, destination } = delivery
    const { id } = destination
    const records = byReplay((recorded.get(id) ?? []).map(([, record]) => record))
    recorded.delete(id)
    const unfinished = new Map(findUnfinished(delivery, position).map((each) => [replayOf(each), each]))
    const rendering = delivery.stages.rendering(event, sourceId, position)
    const away = async (record?: Recorded) => {
      const stored = record?.kind === 'journey' ? record : undefined
      return toldWaiting(
        waitElsewhere(delivery.lane.status.waitOf(undefined), await ownersWait?.(id), stored),
        clock.now(),
      )
    }
    const ofDestination: Journey[] = []
    const isFirst = feed.activity.isConnected(sourceId, position.partition, position.offset)
    for (const replayId of new Set([...(isFirst ? [null] : []), ...records.keys(), ...unfinished.keys()])) {
      const record = records.get(replayId)
      const waiting = unfinished.get(replayId)
      if (waiting !== undefined) ofDestination.push(await unfinishedJourney(delivery, waiting, record, clock))
      else {
        const shown = record && (await recordedJourney(id, record, rendering))
        const isPending = shown === undefined || shown.outcome === 'pending'
        ofDestination.push({
          ...(shown ?? journey(id, 'pending', null, null, [])),
          ...(isPending ? { waiting: await away(record) } : {}),
        })
      }
    }
    found.push(...(id === render ? await withRendered(ofDestination, rendering) : ofDestination))
  }
  for (const [id, records] of recorded) {
    for (const [, record] of records) found.push(await recordedJourney(id, record, undefined))
  }
  return found
}

async function withRendered(journeys: readonly Journey[], rendering: Rendering): Promise<Journey[]> {
  const rendered = await rendering.all()
  return journeys.map((each) => ({
    ...each,
    rendered: { versions: each.configRevision === rendering.revision ? 'recorded' : 'today', ...rendered },
  }))
}

/**
 * By replay of the log; null: the first delivery. If the delivery has another record, a dead letter belongs to a
 * replay.
 */
function byReplay(records: readonly Recorded[]): Map<string | null, Recorded> {
  const found = new Map<string | null, Recorded>()
  for (const record of records) {
    const isPlaced = record.kind === 'plain' || record.kind === 'journey'
    const isSecond = record.kind === 'dead_letter' && found.has(null)
    found.set(isPlaced || isSecond ? record.replayId : null, record)
  }
  return found
}

/** A replay of a dead letter continues the delivery that gave it up. */
function replayOf({ replayed }: LaneEvent): string | null {
  return replayed === undefined || replayed.letterId !== undefined ? null : replayed.replayId
}

/** No destination records a duplicate: the log marks it. */
function duplicateJourneys({ deliveries }: TraceSources, position: EventPosition, sourceId: string): Journey[] {
  const { partition, offset } = position
  return [...deliveries.values()]
    .filter(({ feed }) => feed.activity.isConnected(sourceId, partition, offset))
    .map(({ destination }) => journey(destination.id, 'duplicate', null, null, []))
}

function findUnfinished({ lane }: DestinationDelivery, position: EventPosition): LaneEvent[] {
  return [...lane.unfinished()].filter((event) => isAt(event, position))
}

async function unfinishedJourney(
  delivery: DestinationDelivery,
  event: LaneEvent,
  recorded: Recorded | undefined,
  clock: Clock,
): Promise<Journey> {
  const { lane, destination } = delivery
  const requests = event.history?.requests ?? keptRequests(recorded)
  const now = clock.now()
  const outcome = lane.status.outcomeOf(event)
  const blocker = outcome === 'blocked' ? blockerOf(delivery, event) : undefined
  const blockedBy = blocker && (await messageIdOf(delivery, blocker))
  const due = outcome === 'retrying' ? event.history?.due : undefined
  const reason = blockedBy === undefined ? null : `waits for ${blockedBy}`
  const replayId = event.replayed?.replayId ?? null
  return {
    ...journey(destination.id, outcome, reason, delivery.stages, requests.map(traced)),
    replayId,
    ...(due === undefined ? {} : { nextAttemptAt: formatTime(now + Math.round(due - clock.monotonic())) }),
    ...(blockedBy === undefined ? {} : { blockedBy }),
    waiting: toldWaiting(waitOf(delivery, event, blocker, blockedBy ?? null), now),
  }
}

/** The stored attempts of a waiting event; for a replaying dead letter, those of the replay. */
function keptRequests(recorded: Recorded | undefined): readonly RequestHistory[] {
  if (recorded?.kind === 'dead_letter') return recorded.wait?.requests ?? recorded.requests ?? []
  return (recorded?.kind === 'journey' ? recorded.requests : null) ?? []
}

/** A blocked event waits for the same cause as the earlier event. */
function waitOf(
  { lane }: DestinationDelivery,
  event: LaneEvent,
  blocker: LaneEvent | undefined,
  blockedBy: string | null,
) {
  const own = lane.status.waitOf(event)
  if (own.cause !== 'order' || blocker?.state !== 'retrying') return { ...own, blockedBy }
  return { ...lane.status.waitOf(blocker), blockedBy }
}

/** The earlier event of the same user that blocks this one. */
function blockerOf({ lane }: DestinationDelivery, event: LaneEvent): LaneEvent | undefined {
  for (const earlier of lane.unfinished()) {
    if (earlier.userFollower === event || earlier.anonymousFollower === event) return earlier
  }
  return undefined
}

async function messageIdOf(delivery: DestinationDelivery, event: LaneEvent): Promise<string | undefined> {
  const payload = event.payload ?? (await delivery.payloadOf(event))
  return payload?.messageId
}

/** @param rendering undefined if the destination was removed. */
async function recordedJourney(id: string, recorded: Recorded, rendering: Rendering | undefined): Promise<Journey> {
  switch (recorded.kind) {
    case 'plain': {
      const { outcome, reason, status, durationMs, at, replayId, batch } = recorded
      if (outcome !== 'delivered') return { ...journey(id, outcome, reason, recorded, []), replayId }
      const alone = { n: 1, at: formatTime(at), durationMs, status, class: 'delivered', text: '' }
      const attempt = batch === undefined ? alone : { ...alone, batch }
      const request = { ...(await rendered(rendering, recorded.revision)), attempts: [attempt] }
      return { ...journey(id, 'delivered', null, recorded, [request]), replayId }
    }
    case 'journey': {
      const outcome = recorded.outcome === 'waiting' ? 'pending' : recorded.outcome
      const { reason, requests, replayId } = recorded
      return { ...journey(id, outcome, reason, recorded, (requests ?? []).map(traced)), replayId }
    }
    case 'dead_letter': {
      const { outcome, reason } = outcomeOfDeadLetter(recorded)
      const { replayId, requests } = recorded
      const shown = outcome === 'waiting' ? 'pending' : outcome
      return { ...journey(id, shown, reason, recorded, (requests ?? []).map(traced)), replayId }
    }
    case 'range':
      return journey(id, recorded.outcome, recorded.reason, null, [])
  }
}

/** Renders method and endpoint again from the stored event; omitted if the configuration has changed. */
async function rendered(
  rendering: Rendering | undefined,
  revision: number,
): Promise<{ method?: string; endpoint?: string; rendered?: true }> {
  if (rendering?.revision !== revision) return {}
  const request = await rendering.firstRequest()
  return request === undefined ? {} : { method: request.method, endpoint: request.endpoint, rendered: true }
}

function traced({ method, endpoint, attempts }: RequestHistory): TracedRequest {
  return { method, endpoint, attempts }
}

function journey(
  destinationId: string,
  outcome: string,
  reason: string | null,
  configuration: { readonly revision: number; readonly versionIds: readonly string[] } | null,
  requests: readonly TracedRequest[],
): Journey {
  return {
    destinationId,
    outcome,
    reason,
    replayId: null,
    transformationVersionIds: configuration?.versionIds ?? [],
    configRevision: configuration?.revision ?? null,
    requests,
  }
}

function isAt(event: LaneEvent, { partition, offset, index }: EventPosition): boolean {
  return event.offset === offset && event.index === index && event.partition === partition
}
