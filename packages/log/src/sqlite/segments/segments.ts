import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { decodeRecord } from '@millrace/protocol'
import { MAX_DEDUP_WINDOW_MS } from '../../dedup.ts'
import type { Offset, OffsetRange, Stream, Tally } from '../../event-log.ts'
import type { Appended, CommitMessage } from '../calls.ts'
import { type AttemptEntry, Attempts } from '../dedup/attempts.ts'
import { addEntries, type DecidedCommit, decideCommit, lastAcceptedAt } from '../dedup/commit-dedup.ts'
import { DEDUP_ENTRY_BYTES, DedupWindow, MAX_DEDUP_ENTRIES } from '../dedup/dedup-window.ts'
import { FinishedTimes } from '../finished-times.ts'
import { type Commit, DamagedSegmentError, type EncodedRecord, SEGMENT_OFFSETS, Segment } from './segment.ts'
import { hasWal, isBlank, removeSegment, SIDE_FILES, segmentPath, setAside } from './segment-files.ts'

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
  #checkpointing: Worker | undefined
  /** Loaded from the segments on first use. */
  #dedup: DedupWindow | undefined
  /** Loaded from the segments on first use. */
  #attempts: Attempts | undefined

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
    if (options.hasDedup) this.#dedup = this.#readDedup()
  }

  get end(): Offset {
    return this.#end
  }

  get damaged(): readonly OffsetRange[] {
    return this.#damaged
  }

  /** Appends and syncs one commit; returns its duplicates. */
  append(commit: Commit, rules: CommitMessage['rules'] = []): Appended {
    this.#refuseIfMoved()
    this.#rotateIfDue()
    const first = this.#end
    if (rules.length === 0) this.#open().append(first, commit)
    else return this.#appendDeduplicated(first, commit, rules)
    this.#end += commit.entries.length
    return { first, duplicates: NO_DUPLICATES }
  }

  /** Tests a commit. @throws the error of a failed commit. */
  probe(): void {
    this.#lastPlaceCheck = Number.NEGATIVE_INFINITY
    this.#refuseIfMoved()
    this.#open().probe()
  }

  read(stream: Stream, from: Offset, maxBytes: number): { records: EncodedRecord[]; next: Offset } {
    for (let at = this.#entryIndexOf(from); at < this.#entries.length; at++) {
      const entry = this.#entries[at]!
      const range = { from: Math.max(from, entry.first), to: this.#endOf(at) }
      const records = this.#guarded(entry, (segment) => segment.read(stream, range, maxBytes))
      if (records === 'damaged') return this.read(stream, from, maxBytes)
      if (records.length > 0) return { records, next: records.at(-1)!.offset + 1 }
    }
    return { records: [], next: Math.max(from, this.#end) }
  }

  get(offset: Offset): EncodedRecord | undefined {
    const entry = this.#entries[this.#entryIndexOf(offset)]
    if (entry === undefined || entry.first > offset) return undefined
    const record = this.#guarded(entry, (segment) => segment.get(offset))
    return record === 'damaged' ? undefined : record
  }

  tally(stream: Stream, range: OffsetRange): Tally {
    const tally: Tally = new Map()
    for (const [at, entry] of [...this.#entries].entries()) {
      if (entry.first < range.to && this.#endOf(at) > range.from) {
        this.#guarded(entry, (segment) => segment.tally(stream, range, tally))
      }
    }
    return tally
  }

  oldest(): { offset: Offset; acceptedAt: number } | undefined {
    for (const entry of [...this.#entries]) {
      const record = this.#guarded(entry, (segment) => segment.firstRecord())
      if (record !== undefined && record !== 'damaged') {
        return { offset: record.offset, acceptedAt: decodeRecord(record.bytes).header.acceptedAt }
      }
    }
    return undefined
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
    const leastKeepMs =
      this.#dedup !== undefined && this.#dedup.size > 0 ? Math.max(keepMs, MAX_DEDUP_WINDOW_MS) : keepMs
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
    if (newest?.state === 'open' && this.#end > newest.first) {
      newest.state = 'closing'
      this.#startSegment()
    }
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
    const checkpointing = this.#checkpointing
    this.#checkpointing = undefined
    if (checkpointing !== undefined) await new Promise((resolve) => checkpointing.once('exit', resolve))
    const newest = this.#entries.at(-1)
    if (newest?.state === 'open') {
      const segment = newest.segment!
      const isEmpty = segment.end() === newest.first && segment.attemptEntries().length === 0
      if (!isEmpty) segment.checkpoint()
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

  #appendDeduplicated(first: Offset, commit: Commit, rules: CommitMessage['rules']): Appended {
    if (rules.some(([, rule]) => 'windowMs' in rule)) this.#dedup ??= this.#readDedup()
    // Before the first repeat, the keys need not be in memory.
    if (rules.some(([, rule]) => 'attempt' in rule && rule.attempt === 'repeat'))
      this.#attempts ??= this.#readAttempts()
    const records = rules.map(([place, rule]) => ({ place, rule, bytes: commit.entries[place]!.bytes }))
    const decided = decideCommit({ window: this.#dedup, attempts: this.#attempts }, first, records)
    this.#open().append(first, { ...commit, tallies: withoutDuplicates(commit, decided.duplicates), decided })
    this.#end += commit.entries.length
    // Add keys only after the commit: clients send the events of a failed commit again.
    if (this.#dedup !== undefined) addEntries(this.#dedup, decided.entries)
    if (this.#attempts !== undefined) noteDecided(this.#attempts, decided)
    return { first, duplicates: decided.duplicates }
  }

  #readAttempts(): Attempts {
    const found: AttemptEntry[] = []
    for (const entry of [...this.#entries]) {
      const entries = this.#guarded(entry, (segment) => segment.attemptEntries())
      if (entries !== 'damaged') found.push(...entries)
    }
    // Retention may have copied older keys into a newer segment.
    found.sort((one, other) => one.first - other.first)
    const attempts = new Attempts()
    for (const entry of found) attempts.add(entry)
    return attempts
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
      this.#attempts ??= this.#readAttempts()
    }
  }

  /** Reads the newest segments first, until the window is full, then adds the entries in commit order. */
  #readDedup(): DedupWindow {
    const found: Uint8Array[][] = []
    let entries = 0
    let newestAt = Number.NEGATIVE_INFINITY
    for (const entry of [...this.#entries].reverse()) {
      const parts = this.#guarded(entry, (segment) => segment.dedupEntries())
      if (parts === 'damaged' || parts.length === 0) continue
      const at = lastAcceptedAt(parts)
      newestAt = Math.max(newestAt, at)
      // Twice as far back as needed, in case the clock was changed.
      if (at < newestAt - 2 * MAX_DEDUP_WINDOW_MS || entries >= MAX_DEDUP_ENTRIES) break
      found.push(parts)
      for (const { length } of parts) entries += length / DEDUP_ENTRY_BYTES
    }
    const window = new DedupWindow(MAX_DEDUP_WINDOW_MS, MAX_DEDUP_ENTRIES, entries)
    for (const part of found.reverse().flat()) addEntries(window, part)
    return window
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
    if (!isDue) return
    newest.state = 'closing'
    this.#startSegment()
  }

  /** Runs one checkpoint at a time in the background; if checkpoints fall behind, appends wait here. */
  #startNextCheckpoint(): void {
    const waiting = this.#entries.filter((entry) => entry.state === 'closing')
    if (waiting.length > MAX_WAITING_CHECKPOINTS) this.#checkpointHere(waiting.at(-1)!)
    const entry = waiting[0]
    if (entry === undefined || this.#checkpointing !== undefined) return
    const worker = new Worker(new URL('./checkpoint-thread.ts', import.meta.url), {
      name: 'log-checkpoint',
      workerData: this.#path(entry),
    })
    this.#checkpointing = worker
    worker.once('message', (error: string | undefined) => {
      if (error === undefined && this.#entries.includes(entry)) this.#becomeClosed(entry)
    })
    // A failed checkpoint (full disk) is retried with the next segment, or at the next start.
    worker.once('error', () => {})
    worker.once('exit', () => {
      if (this.#checkpointing !== worker) return
      this.#checkpointing = undefined
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

/** The tallies of a commit without its duplicates. */
function withoutDuplicates({ entries, tallies }: Commit, duplicates: Appended['duplicates']): Commit['tallies'] {
  const fewer = new Map<string, number>()
  for (const [place, indexes] of duplicates) {
    const { stream, bytes } = entries[place]!
    const key = `${stream} ${decodeRecord(bytes).header.sourceId}`
    fewer.set(key, (fewer.get(key) ?? 0) + indexes.length)
  }
  return tallies.map(({ stream, counts }) => ({
    stream,
    counts: counts.map(([sourceId, events, bytes]): [string, number, number] => [
      sourceId,
      events - (fewer.get(`${stream} ${sourceId}`) ?? 0),
      bytes,
    ]),
  }))
}

function noteDecided(attempts: Attempts, decided: DecidedCommit): void {
  for (const entry of decided.attempts) attempts.add(entry)
  const at = decided.attempts[0]?.acceptedAt
  if (decided.hasRepeat && at !== undefined) attempts.noteRepeat(at)
}

function listFirsts(directory: string, pattern: RegExp): Offset[] {
  return readdirSync(directory)
    .flatMap((name) => pattern.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
}
