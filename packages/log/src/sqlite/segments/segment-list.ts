import { mkdirSync, statSync } from 'node:fs'
import { decodeHashes } from '@millrace/protocol/record'
import { type Offset, type OffsetRange, STREAMS, type Tally } from '../../event-log.ts'
import { addToTally } from '../../tally.ts'
import type { SegmentKeysReader, StoredKeys } from '../dedup/known-keys.ts'
import type { EncodedRecord } from './commit.ts'
import { DamagedSegmentError } from './damaged-segment.ts'
import { SEGMENT_OFFSETS, Segment } from './segment.ts'
import {
  copyDamaged,
  hasWal,
  isBlank,
  removeSegment,
  SIDE_FILES,
  segmentPath,
  segmentsIn,
  setAside,
} from './segment-files.ts'
import { type StreamNumber, streamNumber } from './stream-number.ts'
import { lostCommits } from './wal.ts'

/** The segments of one directory: finds the file of an offset, opens files for reads and sets damaged ones aside. */
export class SegmentList implements StoredKeys {
  readonly #directory: string
  readonly #onDamage: SegmentListOptions['onDamage']
  readonly #entries: SegmentEntry[]
  #damaged: OffsetRange[]
  #end: Offset

  constructor({ directory, notBefore, onDamage }: SegmentListOptions) {
    this.#directory = directory
    this.#onDamage = onDamage
    mkdirSync(directory, { recursive: true })
    const firsts = segmentsIn(directory)
    const damagedFirsts = segmentsIn(directory, '.db.damaged')
    this.#entries = firsts.map((first) => ({
      first,
      path: segmentPath(directory, first),
      state: 'closed',
      segment: undefined,
    }))
    const followers = [...firsts, ...damagedFirsts].sort((a, b) => a - b)
    this.#damaged = damagedFirsts.map((first) => ({
      from: first,
      to: followers.find((other) => other > first) ?? first + SEGMENT_OFFSETS,
    }))
    this.#end = Math.max(notBefore, this.#damaged.at(-1)?.to ?? 0)
    this.#recoverNewest(notBefore)
    this.#recoverClosing()
  }

  /** In offset order. */
  get entries(): readonly SegmentEntry[] {
    return this.#entries
  }

  get newest(): SegmentEntry | undefined {
    return this.#entries.at(-1)
  }

  get damaged(): readonly OffsetRange[] {
    return this.#damaged
  }

  /** The offset of the next record. */
  get end(): Offset {
    return this.#end
  }

  /** Where the segment after `entries[index]` begins; `end` if there is none. */
  endOf(index: number): Offset {
    return this.#entries[index + 1]?.first ?? this.#end
  }

  /** Moves `end` past records that are on disk. */
  appended(records: number): void {
    this.#end += records
  }

  /** Creates the segment of the next record. */
  begin(): Segment {
    const segment = Segment.begin(this.#directory, this.#end)
    this.#entries.push({ first: this.#end, path: segment.path, state: 'open', segment })
    return segment
  }

  /** Closes the handle of a segment; the next read opens it again. */
  release(entry: SegmentEntry): void {
    entry.segment?.close()
    entry.segment = undefined
  }

  /** Deletes a segment with its files. */
  delete(entry: SegmentEntry): void {
    this.release(entry)
    removeSegment(entry.path)
    this.#entries.splice(this.#entries.indexOf(entry), 1)
  }

  /** Records of the first segment that has any, up to `maxBytes` but at least one. */
  read(stream: StreamNumber, from: Offset, maxBytes: number): { records: EncodedRecord[]; next: Offset } {
    for (let at = this.#entryIndexOf(from); at < this.#entries.length; at++) {
      const entry = this.#entries[at]!
      if (knownStreams(entry)?.has(stream) === false) continue
      const range = { from: Math.max(from, entry.first), to: this.endOf(at) }
      const records = this.guarded(entry, (segment) => segment.read(stream, range, maxBytes))
      if (records === 'damaged') return this.read(stream, from, maxBytes)
      if (records.length > 0) return { records, next: records.at(-1)!.offset + 1 }
    }
    return { records: [], next: Math.max(from, this.#end) }
  }

  get(partition: number, offset: Offset): EncodedRecord | undefined {
    const entry = this.#entries[this.#entryIndexOf(offset)]
    if (entry === undefined || entry.first > offset) return undefined
    const record = this.guarded(entry, (segment) => segment.get(partition, offset))
    return record === 'damaged' ? undefined : record
  }

  tally(stream: StreamNumber, range: OffsetRange): Tally {
    const tally: Tally = new Map()
    // A copy: a damaged one leaves the list.
    for (const entry of this.#entries.slice(this.#entryIndexOf(range.from))) {
      if (entry.first >= range.to) break
      if (knownStreams(entry)?.has(stream) === false) continue
      const part = this.guarded(entry, (segment) => segment.tally(stream, range))
      if (part === 'damaged') continue
      for (const [sourceId, { events, bytes }] of part) addToTally(tally, sourceId, events, bytes)
    }
    return tally
  }

  oldest(partition: number): { offset: Offset; acceptedAt: number } | undefined {
    const streams = new Set(STREAMS.map((stream) => streamNumber(partition, stream)))
    for (const entry of [...this.#entries]) {
      if (knownStreams(entry)?.isDisjointFrom(streams) === true) continue
      const record = this.guarded(entry, (segment) => segment.firstRecord(partition))
      if (record !== undefined && record !== 'damaged') {
        return { offset: record.offset, acceptedAt: decodeHashes(record.bytes).acceptedAt }
      }
    }
    return undefined
  }

  *newestFirst(): Generator<SegmentKeysReader> {
    for (const entry of [...this.#entries].reverse()) {
      const newestAt = this.guarded(entry, (segment) => segment.newestAt())
      if (newestAt === 'damaged') continue
      const entriesOf = <T>(read: (segment: Segment) => T[]): T[] => {
        const entries = this.guarded(entry, read)
        return entries === 'damaged' ? [] : entries
      }
      yield {
        first: entry.first,
        newestAt,
        windowEntries: () => entriesOf((segment) => segment.windowEntries()),
        attemptEntries: () => entriesOf((segment) => segment.attemptEntries()),
      }
    }
  }

  /** Reads every record of the segment with this offset: damage anywhere in it sets it aside. */
  inspect(offset: Offset): void {
    const entry = this.#entries[this.#entryIndexOf(offset)]
    if (entry !== undefined && entry.first <= offset) this.guarded(entry, (segment) => segment.inspect())
  }

  sizeBytes(): number {
    let bytes = 0
    for (const { path } of this.#entries) {
      for (const file of ['', ...SIDE_FILES]) bytes += statSync(path + file, { throwIfNoEntry: false })?.size ?? 0
    }
    return bytes
  }

  /**
   * Reads from a segment; if it is damaged, sets it aside and continues without it. The error may come from a disk that failed for
   * a moment, so a second handle, which reads everything again, decides.
   */
  guarded<T>(entry: SegmentEntry, work: (segment: Segment) => T): T | 'damaged' {
    try {
      return work(this.handle(entry))
    } catch (error) {
      if (!(error instanceof DamagedSegmentError)) throw error
    }
    try {
      return work(this.#reopened(entry))
    } catch (error) {
      if (!(error instanceof DamagedSegmentError)) throw error
      this.#setAside(entry, error)
      return 'damaged'
    }
  }

  /** Opens a handle before the former one is closed: SQLite checkpoints a database that its last connection closes. */
  #reopened(entry: SegmentEntry): Segment {
    const former = entry.segment
    entry.segment = undefined
    try {
      return this.handle(entry)
    } finally {
      former?.close()
    }
  }

  /** The handle of a segment, opened on first use. @throws DamagedSegmentError */
  handle(entry: SegmentEntry): Segment {
    if (entry.segment !== undefined) return entry.segment
    if (entry.state === 'open') {
      entry.segment = Segment.openForWriting(this.#directory, entry.first)
    } else if (entry.state === 'closing') {
      entry.segment = Segment.openClosing(this.#directory, entry.first)
    } else {
      const opened = this.#entries.filter((other) => other.state === 'closed' && other.segment !== undefined)
      if (opened.length >= MAX_OPEN_CLOSED_SEGMENTS) this.release(opened[0]!)
      entry.segment = Segment.openClosed(this.#directory, entry.first)
      entry.streams ??= new Set(entry.segment.streams)
    }
    return entry.segment
  }

  /**
   * Reopens the newest segment if it was open or is empty; a closed segment is never written again.
   *
   * @param passed offset that readers have passed: an open segment that ends before it has lost records.
   */
  #recoverNewest(passed: Offset): void {
    const { newest } = this
    if (newest === undefined) return
    const lost = hasWal(newest.path) ? lostCommits(`${newest.path}-wal`) : 'none'
    if (lost === 'all') {
      this.#setAside(newest, new DamagedSegmentError(`${newest.path}: ${CUT_OFF}`))
      return
    }
    const isCut = lost === 'rest'
    // A cut segment is not opened for writing: SQLite would write over the lost commits before they are copied.
    if (isCut) newest.state = 'closing'
    else if (hasWal(newest.path) || isBlank(newest.path)) newest.state = 'open'
    let end = this.guarded(newest, (segment) => segment.end())
    if (end === newest.first && newest.state === 'closed') {
      this.release(newest)
      newest.state = 'open'
      end = this.guarded(newest, (segment) => segment.end())
    }
    if (end === 'damaged') return
    this.#end = Math.max(this.#end, end, isCut ? newest.first + SEGMENT_OFFSETS : 0)
    if (isCut) {
      this.#closeCut(newest, end, CUT_OFF)
    } else if (newest.state === 'open' && end < passed) {
      this.#closeCut(newest, end, 'its WAL ends before records that were already read')
    }
  }

  /** A crash leaves segments that were being closed with a WAL; each of them ends where the next one begins. */
  #recoverClosing(): void {
    for (const entry of this.#entries.filter(({ state, path }) => state === 'closed' && hasWal(path))) {
      entry.state = 'closing'
      const end = this.guarded(entry, (segment) => segment.end())
      if (end !== 'damaged') this.#closeCut(entry, end, 'its WAL ends before the next segment begins')
    }
  }

  /**
   * The lost offsets are between the end of a segment and the next one, or damage that an earlier start found; a copy of the files, named after
   * the first of these offsets, is kept.
   */
  #closeCut(entry: SegmentEntry, end: Offset, cause: string): void {
    entry.state = 'closing'
    const next = this.endOf(this.#entries.indexOf(entry))
    const range = { from: end, to: Math.min(next, this.#damaged.find(({ from }) => from >= end)?.from ?? next) }
    if (range.from >= range.to) return
    try {
      copyDamaged(entry.path, segmentPath(this.#directory, end))
    } catch {
      // The disk is full: the records that are left matter more.
    }
    this.#noteDamage(range, `${entry.path}: ${cause}`)
  }

  /** Index of the segment with an offset, or of the first one after it. */
  #entryIndexOf(offset: Offset): number {
    let low = 0
    let high = this.#entries.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.endOf(middle) > offset) high = middle
      else low = middle + 1
    }
    return low
  }

  #setAside(entry: SegmentEntry, error: DamagedSegmentError): void {
    const index = this.#entries.indexOf(entry)
    const isNewest = index === this.#entries.length - 1
    const nextDamaged = this.#damaged.find(({ from }) => from > entry.first)?.from
    const to = isNewest ? entry.first + SEGMENT_OFFSETS : this.endOf(index)
    const range = { from: entry.first, to: Math.min(to, nextDamaged ?? to) }
    this.release(entry)
    setAside(entry.path)
    this.#entries.splice(index, 1)
    this.#noteDamage(range, error.message)
    if (isNewest) this.#end = Math.max(this.#end, range.to)
  }

  #noteDamage(range: OffsetRange, cause: string): void {
    this.#damaged = [...this.#damaged, range].sort((a, b) => a.from - b.from)
    this.#onDamage(range, cause)
  }
}

const MAX_OPEN_CLOSED_SEGMENTS = 8
const CUT_OFF = 'damage in its WAL cut off commits that were synced'

/** The streams of a segment, if they are known and stay: an open one may get others at any time. */
function knownStreams({ state, streams }: SegmentEntry): ReadonlySet<StreamNumber> | undefined {
  return state === 'closed' ? streams : undefined
}

export interface SegmentListOptions {
  /** Created if missing. */
  readonly directory: string
  /** Offsets below this are already used, even if the files do not show it. */
  readonly notBefore: Offset
  readonly onDamage: (range: OffsetRange, cause: string) => void
}

/*
 * States of a segment: `open` (the newest, the only writable one), `closing` (a separate thread moves its WAL into its
 * database file, while it is still read here), `closed` (one read-only file).
 */
export interface SegmentEntry {
  readonly first: Offset
  readonly path: string
  state: 'open' | 'closing' | 'closed'
  /** Open handle; a closed segment is opened on its first read. */
  segment: Segment | undefined
  /** The streams of a closed segment, once it was open: most partitions have no record in most segments. */
  streams?: ReadonlySet<StreamNumber>
}
