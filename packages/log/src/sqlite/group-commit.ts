import { type EventRecord, eventCount } from '@millrace/protocol'
import type { Clock, ThreadCalls, Timer } from '@millrace/std'
import type { Dedup } from '../dedup.ts'
import { LogUnavailableError, type Offset, type Tally } from '../event-log.ts'
import { addToTally } from '../tally.ts'
import { CommitRing } from './commit-ring.ts'
import type { Appended, CommitMessage, LogCalls } from './log-calls.ts'
import type { StreamNumber } from './segments/stream-number.ts'

/** The records of one request may be more. */
const MAX_COMMIT_RECORDS = 64
/** Of records; those of one request may be larger. */
export const MAX_COMMIT_BYTES = 4 * 1024 * 1024
/** A commit of this size starts without waiting for more records. */
const WORTHWHILE_COMMIT_BYTES = 256 * 1024
/** One commit is prepared while another one is synced. */
const MAX_COMMITS_UNDER_WAY = 2
const PROBE_INTERVAL_MS = 1_000
const FRESH_MS = 2_000

/** A record to append. */
interface Entry {
  readonly stream: StreamNumber
  readonly record: EventRecord
  readonly dedup: Dedup | undefined
}

interface Waiting extends Entry {
  readonly size: number
  /** Records of the same request behind it: they share its commit. */
  readonly followers: number
  readonly resolve: (offset: Offset) => void
  readonly reject: (error: LogUnavailableError) => void
}

/** A commit that is on disk. */
export interface Committed {
  /** One past its last offset. */
  readonly end: Offset
  readonly bytes: number
  readonly streams: ReadonlySet<StreamNumber>
}

export interface GroupCommitOptions {
  readonly thread: Pick<ThreadCalls<LogCalls, unknown>, 'call'>
  readonly ring: CommitRing
  readonly clock: Clock
  /** Called after each commit, before its appends resolve. */
  readonly onCommit: (committed: Committed) => void
}

/**
 * The writer of the log. Appends during a commit are grouped into the next one, so that each fsync serves all waiting
 * requests.
 */
export class GroupCommit {
  readonly #thread: GroupCommitOptions['thread']
  readonly #ring: CommitRing
  readonly #clock: Clock
  readonly #onCommit: (committed: Committed) => void
  #waiting: Waiting[] = []
  #waitingBytes = 0
  #commitsUnderWay = 0
  #isFlushPlanned = false
  #lastCommitAt = Number.NEGATIVE_INFINITY
  #trouble: string | undefined
  #probeTimer: Timer | undefined
  /** The running probe: each is an fsync, so all checks share it. */
  #probing: Promise<void> | undefined
  #lastProbeAt = Number.NEGATIVE_INFINITY
  #isClosed = false
  /** Called when no append waits and no commit is under way. */
  #onIdle: (() => void) | undefined

  constructor({ thread, ring, clock, onCommit }: GroupCommitOptions) {
    this.#thread = thread
    this.#ring = ring
    this.#clock = clock
    this.#onCommit = onCommit
  }

  /** Why appends are refused; undefined if they are accepted. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  /** @throws LogUnavailableError */
  append(stream: StreamNumber, record: EventRecord, dedup?: Dedup): Promise<Offset> {
    const refusal = this.#refusal()
    return refusal === undefined ? this.#add({ stream, record, dedup }, 0) : Promise.reject(refusal)
  }

  /** Appends records in one commit. @throws LogUnavailableError; then none of them is stored. */
  appendAll(entries: readonly Entry[]): Promise<Offset[]> {
    const refusal = this.#refusal()
    if (refusal !== undefined) return Promise.reject(refusal)
    return Promise.all(entries.map((entry, i) => this.#add(entry, entries.length - 1 - i)))
  }

  #add({ stream, record, dedup }: Entry, followers: number): Promise<Offset> {
    return new Promise((resolve, reject) => {
      const size = CommitRing.framedSize(record)
      this.#waiting.push({ stream, record, dedup, size, followers, resolve, reject })
      this.#waitingBytes += size
      this.#planFlush()
    })
  }

  #refusal(): LogUnavailableError | undefined {
    const trouble = this.#isClosed ? 'the log is closed' : this.#trouble
    return trouble === undefined ? undefined : new LogUnavailableError(trouble)
  }

  /** @throws LogUnavailableError unless a commit succeeded less than two seconds ago, or one succeeds now. In trouble, the last probe answers for a second. */
  async check(): Promise<void> {
    const now = this.#clock.monotonic()
    if (this.#trouble === undefined && now - this.#lastCommitAt < FRESH_MS) return
    if (this.#trouble === undefined || now - this.#lastProbeAt >= PROBE_INTERVAL_MS) await this.#probe()
    if (this.#trouble !== undefined) throw new LogUnavailableError(this.#trouble)
  }

  /** The log thread ended: no commit can succeed. */
  threadEnded(error: Error): void {
    this.#trouble = error.message
    this.#probeTimer?.cancel()
  }

  /** Refuses further appends, and waits for those that were accepted. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#probeTimer?.cancel()
    if (this.#isIdle) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onIdle = resolve
    await promise
  }

  /**
   * Starts a commit when a turn of the event loop added no request, or when it is large enough. So a single request is
   * written at once, and under load many requests share one fsync.
   */
  #planFlush(): void {
    if (this.#isFlushPlanned || !this.#mayCommit()) return
    this.#isFlushPlanned = true
    const waitingBefore = this.#waiting.length
    setImmediate(() => {
      this.#isFlushPlanned = false
      if (this.#waiting.length === waitingBefore || this.#isWorthAnFsync()) this.#commitWaiting()
      else this.#planFlush()
    })
  }

  #commitWaiting(): void {
    while (this.#mayCommit()) {
      void this.#commit(this.#takeWaiting()).then(() => {
        if (this.#isIdle) this.#onIdle?.()
      })
    }
  }

  get #isIdle(): boolean {
    return this.#waiting.length === 0 && this.#commitsUnderWay === 0
  }

  #mayCommit(): boolean {
    if (this.#waiting.length === 0 || this.#commitsUnderWay >= MAX_COMMITS_UNDER_WAY) return false
    return this.#commitsUnderWay === 0 || this.#isWorthAnFsync()
  }

  #isWorthAnFsync(): boolean {
    return this.#waiting.length >= MAX_COMMIT_RECORDS || this.#waitingBytes >= WORTHWHILE_COMMIT_BYTES
  }

  #takeWaiting(): Waiting[] {
    let count = 0
    let bytes = 0
    while (count < this.#waiting.length) {
      const next = count + 1 + this.#waiting[count]!.followers
      for (let i = count; i < next; i++) bytes += this.#waiting[i]!.size
      if (count > 0 && (next > MAX_COMMIT_RECORDS || bytes > MAX_COMMIT_BYTES)) break
      count = next
    }
    const group = this.#waiting.splice(0, count)
    for (const { size } of group) this.#waitingBytes -= size
    return group
  }

  async #commit(group: Waiting[]): Promise<void> {
    this.#commitsUnderWay++
    const span = this.#ring.write(group)
    let appended: Appended
    try {
      const { start, end } = span
      const message = { start, end, tallies: talliesOf(group) }
      appended = await this.#thread.call('append', message)
    } catch (error) {
      this.#commitsUnderWay--
      this.#ring.failed(span)
      this.#fail(error as Error)
      for (const { reject } of group) reject(new LogUnavailableError((error as Error).message, { cause: error }))
      return
    }
    this.#commitsUnderWay--
    this.#ring.stored(span, appended.first, appended.duplicates)
    this.#lastCommitAt = this.#clock.monotonic()
    this.#publish(group, appended, span.end - span.start)
    this.#planFlush()
  }

  #publish(group: readonly Waiting[], { first, duplicates }: Appended, bytes: number): void {
    const streams = new Set(group.map(({ stream }) => stream))
    this.#onCommit({ end: first + group.length, bytes, streams })
    for (const [place, indexes] of duplicates) group[place]!.dedup?.onDuplicates?.(indexes)
    for (const [i, { resolve }] of group.entries()) resolve(first + i)
  }

  #fail(error: Error): void {
    this.#trouble = error.message
    this.#waitingBytes = 0
    for (const { reject } of this.#waiting.splice(0)) reject(new LogUnavailableError(error.message, { cause: error }))
    if (!this.#isClosed) this.#planProbe()
  }

  /** While appends fail, tests one commit a second; appends resume with the first success. */
  #planProbe(): void {
    this.#probeTimer?.cancel()
    this.#probeTimer = this.#clock.setTimer(() => {
      this.#probeTimer = undefined
      void this.#probe()
    }, PROBE_INTERVAL_MS)
  }

  #probe(): Promise<void> {
    this.#probing ??= this.#callProbe().finally(() => {
      this.#probing = undefined
      this.#lastProbeAt = this.#clock.monotonic()
    })
    return this.#probing
  }

  async #callProbe(): Promise<void> {
    try {
      await this.#thread.call('probe', undefined)
      this.#lastCommitAt = this.#clock.monotonic()
      this.#trouble = undefined
    } catch (error) {
      this.#fail(error as Error)
    }
  }
}

function talliesOf(group: readonly Waiting[]): CommitMessage['tallies'] {
  const tallies = new Map<StreamNumber, Tally>()
  for (const { stream, record, size } of group) {
    const tally: Tally = tallies.get(stream) ?? new Map()
    tallies.set(stream, tally)
    addToTally(tally, record.header.sourceId, eventCount(record.header), size)
  }
  return [...tallies].map(([stream, tally]) => ({
    stream,
    counts: [...tally].map(([sourceId, { events, bytes }]): [string, number, number] => [sourceId, events, bytes]),
  }))
}
