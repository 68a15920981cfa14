import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { decodeRecord } from '@millrace/protocol/record'
import type { AttemptEntry } from '../../dedup/attempts.ts'
import { MAX_DEDUP_WINDOW_MS } from '../../dedup.ts'
import { type Offset, type OffsetRange, STREAMS, type Tally } from '../../event-log.ts'
import type { Appended } from '../calls.ts'
import { KnownKeys, withoutDuplicates } from '../dedup/known-keys.ts'
import { FinishedTimes } from '../finished-times.ts'
import { BackgroundCheckpoint } from './background-checkpoint.ts'
import type { Commit, EncodedRecord } from './commit.ts'
import { DamagedSegmentError } from './damaged-segment.ts'
import { SEGMENT_OFFSETS, Segment } from './segment.ts'
import { hasWal, isBlank, removeSegment, SIDE_FILES, segmentPath, setAside } from './segment-files.ts'
import { type StreamNumber, streamNumber } from './stream-number.ts'

export interface SegmentsOptions {
  readonly directory: string
  /** A segment is closed when its WAL reaches this size, … */
  readonly segmentBytes: number
  /** … or when it has been open this long. */
  readonly segmentMs: number
  /** Offsets below this are already used, even if the files do not show it. */
  readonly notBefore: Offset
  /** Whether sources have a dedup window. */
  readonly hasDedup: boolean
  readonly onDamage: (range: OffsetRange, cause: string) => void
}

/*
 * States of a segment: `open` (the newest, the only writable one), `closing` (a separate thread moves its WAL into its
 * database file, while it is still read here), `closed` (one read-only file).
 */
interface Entry {
  readonly first: Offset
  state: 'open' | 'closing' | 'closed'
  /** Open handle; a closed segment is opened on its first read. */
  segment: Segment | undefined
  /** The streams of a closed segment, once it was open: most partitions have no record in most segments. */
  streams?: ReadonlySet<StreamNumber>
}

const MAX_OPEN_CLOSED_SEGMENTS = 8
const MAX_WAITING_CHECKPOINTS = 3

/** The segments of one directory: finds the file of an offset, creates new segments and deletes old ones. */
export class Segments {
  readonly #options: SegmentsOptions
  readonly #finished: FinishedTimes
  /** In offset order; the last one is open. */
  #entries: Entry[] = []
  #damaged: OffsetRange[] = []
  #end: Offset
  #openedAt = 0
  #lastPlaceCheck = Number.NEGATIVE_INFINITY
  readonly #checkpoint = new BackgroundCheckpoint()
  readonly #keys = new KnownKeys({
    windowEntries: () => this.#windowEntries(),
    attemptEntries: () => this.#attemptEntries(),
  })

  constructor(options: SegmentsOptions) {
    this.#options = options
    mkdirSync(options.directory, { recursive: true })
    this.#finished = new FinishedTimes(options.directory)
    const firsts = listFirsts(options.directory, /^(\d+)\.db$/)
    const damagedFirsts = listFirsts(options.directory, /^(\d+)\.db\.damaged$/)
    this.#entries = firsts.map((first) => ({ first, state: 'closed', segment: undefined }))
    const followers = [...firsts, ...damagedFirsts].sort((a, b) => a - b)
    this.#damaged = damagedFirsts.map((first) => ({
      from: first,
      to: followers.find((other) => other > first) ?? first + SEGMENT_OFFSETS,
    }))
    this.#end = Math.max(options.notBefore, this.#damaged.at(-1)?.to ?? 0)
    this.#recoverNewest()
    for (const entry of this.#entries) {
      if (entry.state === 'closed' && hasWal(this.#path(entry))) entry.state = 'closing'
    }
    this.#open()
    this.#startNextCheckpoint()
    if (options.hasDedup) this.#keys.loadWindow()
  }

  get end(): Offset {
    return this.#end
  }

  get damaged(): readonly OffsetRange[] {
    return this.#damaged
  }

  /** Appends and syncs one commit; returns its duplicates. */
  append(commit: Commit): Appended {
    this.#refuseIfMoved()
    this.#rotateIfDue()
    const first = this.#end
    if (commit.entries.some(({ rule }) => rule !== undefined)) return this.#appendDeduplicated(first, commit)
    this.#open().append(first, commit)
    this.#end += commit.entries.length
    return { first, duplicates: NO_DUPLICATES }
  }

  /** Tests a commit. @throws the error of a failed commit. */
  probe(): void {
    this.#lastPlaceCheck = Number.NEGATIVE_INFINITY
    this.#refuseIfMoved()
    this.#open().probe()
  }

  read(stream: StreamNumber, from: Offset, maxBytes: number): { records: EncodedRecord[]; next: Offset } {
    for (let at = this.#entryIndexOf(from); at < this.#entries.length; at++) {
      const entry = this.#entries[at]!
      if (entry.streams?.has(stream) === false) continue
      const range = { from: Math.max(from, entry.first), to: this.#endOf(at) }
      const records = this.#guarded(entry, (segment) => segment.read(stream, range, maxBytes))
      if (records === 'damaged') return this.read(stream, from, maxBytes)
      if (records.length > 0) return { records, next: records.at(-1)!.offset + 1 }
    }
    return { records: [], next: Math.max(from, this.#end) }
  }

  get(partition: number, offset: Offset): EncodedRecord | undefined {
    const entry = this.#entries[this.#entryIndexOf(offset)]
    if (entry === undefined || entry.first > offset) return undefined
    const record = this.#guarded(entry, (segment) => segment.get(partition, offset))
    return record === 'damaged' ? undefined : record
  }

  tally(stream: StreamNumber, range: OffsetRange): Tally {
    const tally: Tally = new Map()
    for (const [at, entry] of [...this.#entries].entries()) {
      if (entry.streams?.has(stream) === false) continue
      if (entry.first < range.to && this.#endOf(at) > range.from) {
        this.#guarded(entry, (segment) => segment.tally(stream, range, tally))
      }
    }
    return tally
  }

  oldest(partition: number): { offset: Offset; acceptedAt: number } | undefined {
    const streams = STREAMS.map((stream) => streamNumber(partition, stream))
    for (const entry of [...this.#entries]) {
      if (entry.streams?.isDisjointFrom(new Set(streams)) === true) continue
      const record = this.#guarded(entry, (segment) => segment.firstRecord(partition))
      if (record !== undefined && record !== 'damaged') {
        return { offset: record.offset, acceptedAt: decodeRecord(record.bytes).header.acceptedAt }
      }
    }
    return undefined
  }

  /** The first offset of the oldest segment, also of a damaged one. */
  deletedBefore(): Offset {
    return Math.min(this.#end, this.#entries[0]?.first ?? this.#end, this.#damaged[0]?.from ?? this.#end)
  }

  /** The oldest segment, once it is closed. */
  oldestClosed(): OffsetRange | undefined {
    const [oldest] = this.#entries
    return oldest?.state === 'closed' ? { from: oldest.first, to: this.#endOf(0) } : undefined
  }

  /** Deletes closed segments, oldest first, that have been finished for `keepMs`. */
  retain(finishedBefore: Offset, keepMs: number, now: number): void {
    const finished = this.#entries.filter((entry, at) => entry.state !== 'open' && this.#endOf(at) <= finishedBefore)
    // Keep segments with keys that a restart still needs.
    const leastKeepMs = this.#keys.hasWindowKeys ? Math.max(keepMs, MAX_DEDUP_WINDOW_MS) : keepMs
    const finishedSince = finished.map((entry) => this.#finished.since(entry.first, now))
    for (const [at, entry] of finished.entries()) {
      if (now - finishedSince[at]! < leastKeepMs || entry.state !== 'closed') break
      this.#carryAttempts(entry, now)
      entry.segment?.close()
      removeSegment(this.#path(entry))
      this.#entries.shift()
      this.#finished.forget(entry.first)
    }
    this.#finished.save()
    // Last, because it may fail on a full disk, where the deletions above help.
    this.#rotateIfDue()
  }

  /** Closes the newest segment, as if it were full. @returns the first offset of the next one. */
  closeNewest(): Offset {
    const newest = this.#entries.at(-1)
    if (newest?.state === 'open' && this.#end > newest.first) this.#closeAndGoOn(newest)
    return this.#end
  }

  /** The segments before an offset; undefined until all are closed. Retries failed checkpoints. */
  closedBefore(end: Offset): Offset[] | undefined {
    const wanted = this.#entries.filter(({ first }) => first < end)
    if (wanted.every(({ state }) => state === 'closed')) return wanted.map(({ first }) => first)
    this.#startNextCheckpoint()
    return undefined
  }

  sizeBytes(): number {
    let bytes = 0
    for (const entry of this.#entries) {
      for (const file of ['', ...SIDE_FILES]) {
        bytes += statSync(this.#path(entry) + file, { throwIfNoEntry: false })?.size ?? 0
      }
    }
    return bytes
  }

  /** Closes the newest segment; the next start creates a new one and finishes an interrupted checkpoint. */
  async close(): Promise<void> {
    await this.#checkpoint.stop()
    const newest = this.#entries.at(-1)
    if (newest?.state === 'open') {
      const segment = newest.segment!
      const isEmpty = segment.end() === newest.first && segment.attemptEntries().length === 0
      if (!isEmpty) {
        this.#writeKeys(newest)
        segment.checkpoint()
      }
      segment.close()
      newest.segment = undefined
      if (isEmpty) removeSegment(this.#path(newest))
    }
    for (const entry of this.#entries) entry.segment?.close()
  }

  /** Reopens the newest segment if it was open or is empty; a closed segment is never written again. */
  #recoverNewest(): void {
    const newest = this.#entries.at(-1)
    if (newest === undefined) return
    if (hasWal(this.#path(newest)) || isBlank(this.#path(newest))) newest.state = 'open'
    let end = this.#guarded(newest, (segment) => segment.end())
    if (end === newest.first && newest.state === 'closed') {
      this.#becomeClosed(newest)
      newest.state = 'open'
      end = this.#guarded(newest, (segment) => segment.end())
    }
    if (end !== 'damaged') this.#end = Math.max(this.#end, end)
    this.#openedAt = performance.now()
  }

  #appendDeduplicated(first: Offset, commit: Commit): Appended {
    const decided = this.#keys.decide(first, commit)
    this.#open().append(first, { ...commit, tallies: withoutDuplicates(commit, decided.duplicates), decided })
    this.#end += commit.entries.length
    this.#keys.committed(decided)
    return { first, duplicates: decided.duplicates }
  }

  *#windowEntries(): Generator<Uint8Array[]> {
    for (const entry of [...this.#entries].reverse()) {
      const parts = this.#guarded(entry, (segment) => segment.windowEntries())
      if (parts !== 'damaged' && parts.length > 0) yield parts
    }
  }

  #attemptEntries(): AttemptEntry[] {
    return [...this.#entries].flatMap((entry) => {
      const entries = this.#guarded(entry, (segment) => segment.attemptEntries())
      return entries === 'damaged' ? [] : entries
    })
  }

  /** Copies keys that are still needed from a segment to be deleted into the newest one. */
  #carryAttempts(entry: Entry, now: number): void {
    const entries = this.#guarded(entry, (segment) => segment.attemptEntries())
    if (entries === 'damaged') return
    const due = entries.filter(({ acceptedAt }) => acceptedAt > now - MAX_DEDUP_WINDOW_MS)
    if (due.length === 0) return
    try {
      this.#open().keepAttempts(due)
    } catch {
      // The disk is full, so deleting the segment matters more. The keys stay in memory until the process ends.
      this.#keys.loadAttempts()
    }
  }

  #startSegment(): Segment {
    const segment = Segment.begin(this.#options.directory, this.#end)
    this.#entries.push({ first: this.#end, state: 'open', segment })
    this.#openedAt = performance.now()
    this.#startNextCheckpoint()
    return segment
  }

  #rotateIfDue(): void {
    const newest = this.#entries.at(-1)
    if (newest?.state !== 'open' || this.#end === newest.first) return
    const walBytes = statSync(`${this.#path(newest)}-wal`, { throwIfNoEntry: false })?.size ?? 0
    const isDue =
      walBytes >= this.#options.segmentBytes ||
      performance.now() - this.#openedAt >= this.#options.segmentMs ||
      this.#end - newest.first >= SEGMENT_OFFSETS - 1_000
    if (isDue) this.#closeAndGoOn(newest)
  }

  #closeAndGoOn(newest: Entry): void {
    this.#writeKeys(newest)
    newest.state = 'closing'
    this.#startSegment()
  }

  #writeKeys(entry: Entry): void {
    try {
      this.#handle(entry).writeKeys()
    } catch {
      // The keys follow from the records, too: reading them takes longer.
    }
  }

  /** Runs one checkpoint at a time in the background; if checkpoints fall behind, appends wait here. */
  #startNextCheckpoint(): void {
    const waiting = this.#entries.filter((entry) => entry.state === 'closing')
    if (waiting.length > MAX_WAITING_CHECKPOINTS) this.#checkpointHere(waiting.at(-1)!)
    const entry = waiting[0]
    if (entry === undefined || this.#checkpoint.isRunning) return
    const onDone = () => {
      if (this.#entries.includes(entry)) this.#becomeClosed(entry)
    }
    this.#checkpoint.start(this.#path(entry), onDone, () => {
      if (entry.state === 'closing') this.#setAsideIfDamaged(entry)
      if (entry.state === 'closed' || !this.#entries.includes(entry)) this.#startNextCheckpoint()
    })
  }

  #checkpointHere(entry: Entry): void {
    try {
      this.#handle(entry).checkpoint()
      this.#becomeClosed(entry)
    } catch {
      // Retried with the next segment; the data is safe in the WAL.
    }
  }

  /** A segment that can never be checkpointed would block the ones after it. */
  #setAsideIfDamaged(entry: Entry): void {
    try {
      entry.segment?.close()
      entry.segment = undefined
      this.#guarded(entry, (segment) => segment.end())
    } catch {
      // It cannot be opened at the moment, which does not mean that it is damaged.
    }
  }

  #becomeClosed(entry: Entry): void {
    entry.segment?.close()
    entry.segment = undefined
    entry.state = 'closed'
  }

  /** The open segment; created if there is none. */
  #open(): Segment {
    const newest = this.#entries.at(-1)
    return newest?.state === 'open' ? newest.segment! : this.#startSegment()
  }

  #path(entry: Entry): string {
    return segmentPath(this.#options.directory, entry.first)
  }

  #endOf(index: number): Offset {
    return this.#entries[index + 1]?.first ?? this.#end
  }

  /** Index of the segment with an offset, or of the first one after it. */
  #entryIndexOf(offset: Offset): number {
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#endOf(middle) > offset) high = middle
      else low = middle + 1
    }
    return low
  }

  /** Reads from a segment; if it is damaged, sets it aside and continues without it. */
  #guarded<T>(entry: Entry, work: (segment: Segment) => T): T | 'damaged' {
    try {
      return work(this.#handle(entry))
    } catch (error) {
      if (!(error instanceof DamagedSegmentError)) throw error
      this.#setAside(entry, error)
      return 'damaged'
    }
  }

  #handle(entry: Entry): Segment {
    if (entry.segment !== undefined) return entry.segment
    if (entry.state !== 'closed') {
      entry.segment = Segment.openForWriting(this.#options.directory, entry.first)
    } else {
      const opened = this.#entries.filter((other) => other.state === 'closed' && other.segment !== undefined)
      if (opened.length >= MAX_OPEN_CLOSED_SEGMENTS) this.#becomeClosed(opened[0]!)
      entry.segment = Segment.openClosed(this.#options.directory, entry.first)
      entry.streams ??= new Set(entry.segment.streams)
    }
    return entry.segment
  }

  #setAside(entry: Entry, error: DamagedSegmentError): void {
    const index = this.#entries.indexOf(entry)
    const isNewest = index === this.#entries.length - 1
    const range = { from: entry.first, to: isNewest ? entry.first + SEGMENT_OFFSETS : this.#endOf(index) }
    entry.segment?.close()
    setAside(this.#path(entry))
    this.#entries.splice(index, 1)
    this.#damaged = [...this.#damaged, range].sort((a, b) => a.from - b.from)
    this.#options.onDamage(range, error.message)
    if (isNewest) this.#end = Math.max(this.#end, range.to)
  }

  #refuseIfMoved(): void {
    const now = performance.now()
    if (now - this.#lastPlaceCheck < PLACE_CHECK_MS) return
    if (!this.#open().isInPlace()) throw new Error(`${dirname(this.#options.directory)} was moved or deleted`)
    this.#lastPlaceCheck = now
  }
}

const PLACE_CHECK_MS = 1_000
const NO_DUPLICATES: Appended['duplicates'] = new Map()

function listFirsts(directory: string, pattern: RegExp): Offset[] {
  return readdirSync(directory)
    .flatMap((name) => pattern.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
}
