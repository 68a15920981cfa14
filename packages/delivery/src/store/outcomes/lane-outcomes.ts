import type { EventPlace } from '../../lane/queue/event-place.ts'
import type { LaneEvent, Replayed } from '../../lane/queue/lane-event.ts'
import type { Position } from '../../lane/queue/position.ts'
import type {
  BlockWrite,
  DeadLetterWrite,
  JourneyWrite,
  PositionWrite,
  ReplacedRow,
  ReplayedWrite,
  VersionsWrite,
} from './flush.ts'
import { DROPPED, ENTRY_BYTES, type FilterReason, writeBatch, writeDelivered, writeEntry } from './outcome-block.ts'
import { Unwritten, type WokenLane } from './unwritten.ts'

const HOUR_MS = 3_600_000
/** A partition has fewer streams. */
const STREAM_NUMBERS = 16
/** A crash repeats at most this many outcomes of a destination. Those of a lane are written when it has its part of them. */
export const MAX_UNWRITTEN = 1_000

/** The positions of a destination; called for each flush. */
export type PositionsOf = () => Iterable<{ partition: number; stream: number; position: Position }>

/** An accepted event. */
export interface AcceptedEvent {
  readonly sourceId: string
  /** Milliseconds since 1970. */
  readonly acceptedAt: number
  /** JSON of the stored event. */
  readonly event: string
}

/** Reads events of the log; undefined for events that the log has lost. @throws if the log cannot be read now. */
export type ReadAccepted = (places: readonly EventPlace[]) => Promise<readonly (AcceptedEvent | undefined)[]>

/**
 * The outcomes of one destination on their way to disk: collected here, written by the store's next flush. An outcome
 * counts as recorded as soon as it is here: the flush that writes it also writes the position behind it, and flushes
 * are written in order.
 */
export class LaneOutcomes {
  readonly destinationId: string
  /** Of all lanes of the destination in this process. */
  readonly #unwritten: Unwritten
  readonly #onDirty: (outcomes: LaneOutcomes) => void
  /** Set by the lane; called after each flush that contained its outcomes, or made the room that it waits for. */
  onPersisted: () => void = () => {}
  positions: PositionsOf = () => []
  /** Set by the destination: reads an event again for a dead letter, if its outcome cannot be written. */
  readAccepted: ReadAccepted = async (places) => places.map(() => undefined)
  /** Set by the destination; called for such events when their dead letters are on disk. */
  onInternalErrors: (count: number) => void = () => {}
  /** Set by the lane; called for each wait that is on disk, unless a newer wait of its event is about to be written. */
  onWaitPersisted: (event: LaneEvent) => void = () => {}
  /** Number of outcomes of this lane that a crash would repeat. */
  unwritten = 0
  #blocks = new Map<string, OpenBlock>()
  #lastBlock: OpenBlock | undefined
  #journeys = new Map<string, JourneyWrite>()
  #replaced: ReplacedRow[] = []
  #deadLetters: DeadLetterWrite[] = []
  /** By dead letter: the last change wins. */
  #replayed = new Map<string, ReplayedWrite>()
  #delivered = new Map<number, number>()
  #versions: VersionsWrite[] = []
  /** Events with collected journeys, one entry for each time. */
  #journeyEvents: LaneEvent[] = []
  #gathered = 0
  /** By partition and stream: as it was taken last. */
  readonly #takenPositions = new Map<number, Position>()

  constructor(
    destinationId: string,
    onDirty: (outcomes: LaneOutcomes) => void,
    unwritten: Unwritten = new Unwritten(MAX_UNWRITTEN),
  ) {
    this.destinationId = destinationId
    this.#unwritten = unwritten
    this.#onDirty = onDirty
  }

  /** All lanes of the destination together may leave as many outcomes unwritten. */
  get maxUnwritten(): number {
    return this.#unwritten.most
  }

  /** Whether the lane may send another event; if not, `onPersisted` is called when it can ask again. */
  hasRoom(): boolean {
    return this.#unwritten.hasRoomFor(this)
  }

  /** A flush has written so many of its outcomes. @returns the lanes that may send again. */
  flushed(count: number): ReadonlySet<WokenLane> {
    this.unwritten -= count
    this.#unwritten.count -= count
    return this.#unwritten.takeWaiting()
  }

  /** An event delivered by one request at its first attempt. @param batch number of events in that request. */
  delivered(
    event: LaneEvent,
    status: number,
    durationMs: number,
    startedAt: number,
    revision: number,
    batch = 1,
  ): void {
    const block = this.#block(event.partition, revision, event.replayed?.replayId ?? null, event.offset, startedAt)
    const at = block.reserve()
    writeDelivered(block.entries, at, event.offset, event.index, status, durationMs, startedAt)
    if (batch > 1) writeBatch(block.entries, at, batch)
    if (event.hasRow) this.#replace(event)
    this.countDelivered(startedAt)
    this.#recorded(event)
  }

  filtered(place: EventPlace, reason: FilterReason, at: number, revision: number): void {
    const block = this.#block(place.partition, revision, null, place.offset, at)
    const { offset, index } = place
    writeEntry(block.entries, block.reserve(), {
      offset,
      index,
      outcome: 'filtered',
      reason,
      status: 0,
      durationMs: 0,
      at,
    })
    this.#count()
  }

  /** User code dropped the event. */
  dropped(event: LaneEvent, at: number, revision: number): void {
    const { partition, offset, index, replayed } = event
    if (replayed?.letterId !== undefined) {
      this.#replay({ kind: 'left_out', letterId: replayed.letterId, reason: DROPPED, at, revision }, event)
      return
    }
    const block = this.#block(partition, revision, replayed?.replayId ?? null, offset, at)
    writeEntry(block.entries, block.reserve(), {
      offset,
      index,
      outcome: DROPPED,
      reason: null,
      status: 0,
      durationMs: 0,
      at,
    })
    if (event.hasRow) this.#replace(event)
    this.#recorded(event)
  }

  /** A wait, or a final outcome that does not fit a block entry. */
  journey(event: LaneEvent, journey: JourneyWrite): void {
    event.hasRow = true
    const { replayed, history } = event
    if (history !== undefined) {
      history.unwritten++
      this.#journeyEvents.push(event)
    }
    if (replayed?.letterId !== undefined) {
      this.#replay({ kind: 'journey', letterId: replayed.letterId, journey }, event)
      return
    }
    this.#journeys.set(journeyKey(event), replayed === undefined ? journey : asAccepted(journey, replayed))
    this.#recorded(event)
  }

  deadLetter(event: LaneEvent, letter: DeadLetterWrite): void {
    const { replayed } = event
    if (replayed?.letterId !== undefined) {
      this.#replay({ kind: 'dead_letter', letterId: replayed.letterId, letter }, event)
      return
    }
    this.#journeys.delete(journeyKey(event))
    this.#deadLetters.push(replayed === undefined ? letter : asAccepted(letter, replayed))
    this.#recorded(event)
  }

  /** A dead letter that a current filter excludes. */
  replayFiltered(letterId: string, reason: FilterReason, at: number, revision: number): void {
    this.#replayed.set(letterId, { kind: 'left_out', letterId, reason, at, revision })
    this.#count()
  }

  /** Versions of the user code under a revision; call this before the first outcome under the revision. */
  noteVersions(revision: number, versionIds: readonly string[]): void {
    this.#versions.push({ destinationId: this.destinationId, revision, versionIds })
    this.#onDirty(this)
  }

  countDelivered(at: number): void {
    const hour = Math.floor(at / HOUR_MS)
    this.#delivered.set(hour, (this.#delivered.get(hour) ?? 0) + 1)
  }

  /** The cursor moved without outcomes. */
  moved(): void {
    this.#onDirty(this)
  }

  /** Everything collected since the last call, for one flush. */
  take(): {
    blocks: BlockWrite[]
    journeys: JourneyWrite[]
    replaced: ReplacedRow[]
    deadLetters: DeadLetterWrite[]
    replayed: ReplayedWrite[]
    delivered: { destinationId: string; hour: number; count: number }[]
    versions: VersionsWrite[]
    journeyEvents: readonly LaneEvent[]
    count: number
  } {
    const { destinationId } = this
    const taken = {
      blocks: [...this.#blocks.values()].map((block) => block.finish(destinationId)),
      journeys: [...this.#journeys.values()],
      replaced: this.#replaced,
      deadLetters: this.#deadLetters,
      replayed: [...this.#replayed.values()],
      delivered: [...this.#delivered].map(([hour, count]) => ({ destinationId, hour, count })),
      versions: this.#versions,
      journeyEvents: this.#journeyEvents,
      count: this.#gathered,
    }
    this.#blocks = new Map()
    this.#lastBlock = undefined
    this.#journeys = new Map()
    this.#replaced = []
    this.#deadLetters = []
    this.#replayed = new Map()
    this.#delivered = new Map()
    this.#versions = []
    this.#journeyEvents = []
    this.#gathered = 0
    return taken
  }

  /** The positions that changed since the last call. Most partitions of a destination are quiet. */
  takePositions(): PositionWrite[] {
    const changed: PositionWrite[] = []
    for (const each of this.positions()) {
      const { partition, stream, position } = each
      const key = partition * STREAM_NUMBERS + stream
      const taken = this.#takenPositions.get(key)
      if (taken?.offset === position.offset && taken.index === position.index) continue
      this.#takenPositions.set(key, position)
      changed.push({ reader: this.destinationId, ...each })
    }
    return changed
  }

  /** These positions were written without a flush. */
  placed(positions: readonly PositionWrite[]): void {
    for (const { partition, stream, position } of positions) {
      this.#takenPositions.set(partition * STREAM_NUMBERS + stream, position)
    }
  }

  /** The flush that was taken is on disk. */
  written(events: readonly LaneEvent[]): void {
    for (const event of events) if (--event.history!.unwritten === 0) this.onWaitPersisted(event)
  }

  /**
   * Discards the waits that are not written yet: the destination was removed, and its removal records their outcome.
   */
  drop(): void {
    for (const [key, { outcome }] of this.#journeys) if (outcome === 'waiting') this.#journeys.delete(key)
    this.onPersisted = () => {}
  }

  #replay(write: ReplayedWrite, event: LaneEvent): void {
    this.#replayed.set(write.letterId, write)
    this.#recorded(event)
  }

  #replace(event: LaneEvent): void {
    this.#journeys.delete(journeyKey(event))
    const { partition, stream, offset, index, replayed } = event
    const replayId = replayed?.replayId ?? null
    this.#replaced.push({ destinationId: this.destinationId, partition, stream, offset, index, replayId })
  }

  #recorded(event: LaneEvent): void {
    event.isRecorded = true
    this.#count()
  }

  #count(): void {
    this.#gathered++
    this.unwritten++
    this.#unwritten.count++
    if (this.#gathered === 1 || this.#gathered === this.maxUnwritten) this.#onDirty(this)
  }

  #block(partition: number, revision: number, replayId: string | null, offset: number, at: number): OpenBlock {
    let block = this.#lastBlock
    if (block?.partition !== partition || block.revision !== revision || block.replayId !== replayId) {
      const key = `${partition} ${revision} ${replayId}`
      block = this.#blocks.get(key)
      if (block === undefined) {
        block = new OpenBlock(partition, revision, replayId)
        this.#blocks.set(key, block)
      }
      this.#lastBlock = block
    }
    block.cover(offset, at)
    return block
  }
}

class OpenBlock {
  readonly partition: number
  readonly revision: number
  readonly replayId: string | null
  entries = Buffer.allocUnsafeSlow(ENTRY_BYTES * 64)
  #length = 0
  #firstOffset = Number.MAX_SAFE_INTEGER
  #lastOffset = 0
  #lastAt = 0

  constructor(partition: number, revision: number, replayId: string | null) {
    this.partition = partition
    this.revision = revision
    this.replayId = replayId
  }

  cover(offset: number, at: number): void {
    if (offset < this.#firstOffset) this.#firstOffset = offset
    if (offset > this.#lastOffset) this.#lastOffset = offset
    if (at > this.#lastAt) this.#lastAt = at
  }

  /** Makes room for an entry. @returns its place. */
  reserve(): number {
    const at = this.#length
    this.#length += ENTRY_BYTES
    if (this.#length > this.entries.length) {
      const larger = Buffer.allocUnsafeSlow(this.entries.length * 2)
      larger.set(this.entries)
      this.entries = larger
    }
    return at
  }

  finish(destinationId: string): BlockWrite {
    return {
      destinationId,
      partition: this.partition,
      revision: this.revision,
      replayId: this.replayId,
      firstOffset: this.#firstOffset,
      lastOffset: this.#lastOffset,
      lastAt: Math.floor(this.#lastAt),
      entries: this.entries.subarray(0, this.#length),
    }
  }
}

function journeyKey({ partition, offset, index, replayed }: LaneEvent): string {
  return `${partition} ${offset} ${index} ${replayed?.replayId ?? ''}`
}

/**
 * The lane measures the age of an event replayed from the log from the start of its replay; all other code uses its
 * acceptance.
 */
function asAccepted<T extends JourneyWrite | DeadLetterWrite>(write: T, { acceptedAt, replayId }: Replayed): T {
  return { ...write, acceptedAt, replayId }
}
