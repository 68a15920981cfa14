import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeRecord, type EventRecord, encodedSize, encodeRecord, eventCount } from '@millrace/protocol'
import { afterAll, expect, test } from 'vitest'
import { noteOf, testRecord } from '../conformance.ts'
import { type OffsetRange, STREAMS, type Stream } from '../event-log.ts'
import { LogFolders } from './log-folders.ts'
import { SEGMENT_OFFSETS } from './segments/segment.ts'
import { Segments, type SegmentsOptions } from './segments/segments.ts'
import { streamNumber } from './segments/stream-number.ts'

const folders = new LogFolders()
afterAll(() => folders[Symbol.dispose]())

/** Bytes of a frame of SQLite's WAL: a header of 24, then a page. */
const FRAME_BYTES = 24 + 16_384
const WAL_HEADER_BYTES = 32

function open(directory: string, onDamage?: SegmentsOptions['onDamage']): Segments {
  return new Segments({
    directory,
    segmentBytes: 2 ** 30,
    segmentMs: 3_600_000,
    notBefore: 0,
    hasDedup: false,
    onDamage:
      onDamage ??
      ((range, cause) => {
        throw new Error(`damage from ${range.from} on: ${cause}`)
      }),
  })
}

function encoded(record: EventRecord): Buffer {
  const bytes = Buffer.alloc(encodedSize(record))
  encodeRecord(record, bytes, 0)
  return bytes
}

function append(segments: Segments, notes: readonly string[], name: Stream): void {
  const stream = streamNumber(0, name)
  const records = notes.map((note) => testRecord('source-a', note, 3))
  const entries = records.map((record) => ({ stream, bytes: encoded(record) }))
  const events = records.reduce((sum, { header }) => sum + eventCount(header), 0)
  segments.append({ entries, tallies: [{ stream, counts: [['source-a', events, 1]] }] })
}

function notesOf(segments: Segments): string[] {
  return STREAMS.flatMap((stream) =>
    segments.read(streamNumber(0, stream), 0, 10_000_000).records.map(({ bytes }) => noteOf(decodeRecord(bytes))!),
  )
}

/** A log as a crash leaves it: commits of one to four records in the WAL, and where in it each of them ends. */
function crashedLog() {
  const directory = folders.create()
  const segments = open(directory)
  const wal = join(directory, '0.db-wal')
  const commits: { notes: string[]; walEnd: number }[] = []
  for (let i = 0; i < 24; i++) {
    const notes = Array.from({ length: (i % 4) + 1 }, (_, n) => `${i}-${n}`)
    append(segments, notes, i % 5 === 0 ? 'backfill' : 'live')
    commits.push({ notes, walEnd: statSync(wal).size })
  }
  const copy = folders.copy(directory)
  return { directory: copy, wal: readFileSync(join(copy, '0.db-wal')), commits, close: () => segments.close() }
}

/** Every byte of the last three commits' frame headers and ends, every frame's edges, and some places between. */
function placesToCut(walBytes: number): number[] {
  const places = new Set<number>()
  const frames = Math.ceil((walBytes - WAL_HEADER_BYTES) / FRAME_BYTES)
  for (let place = 0; place <= WAL_HEADER_BYTES + 24; place++) places.add(place)
  for (let frame = 0; frame <= frames; frame++) {
    const start = WAL_HEADER_BYTES + frame * FRAME_BYTES
    for (const near of [-1, 0, 24, 8_000]) places.add(start + near)
  }
  for (let place = walBytes - 2 * FRAME_BYTES; place <= walBytes; place += 311) places.add(place)
  for (let place = walBytes - FRAME_BYTES - 30; place <= walBytes - FRAME_BYTES + 30; place++) places.add(place)
  for (let place = walBytes - 60; place <= walBytes; place++) places.add(place)
  return [...places].filter((place) => place >= 0 && place <= walBytes).sort((a, b) => a - b)
}

test('wherever the WAL is cut, every commit before the cut is served whole and none after it', () => {
  const { directory, wal, commits, close } = crashedLog()
  const main = readFileSync(join(directory, '0.db'))
  const places = placesToCut(wal.length)
  for (const [i, place] of places.entries()) {
    const cut = folders.create()
    cpSync(directory, cut, { recursive: true, filter: (source) => !source.endsWith('-wal') })
    writeFileSync(join(cut, '0.db'), main)
    writeFileSync(join(cut, '0.db-wal'), wal.subarray(0, place))
    const segments = open(cut)
    const expected = commits.filter(({ walEnd }) => walEnd <= place).flatMap(({ notes }) => notes)
    const served = notesOf(segments)
    expect([place, served.sort()]).toEqual([place, [...expected].sort()])
    expect([place, segments.end]).toEqual([place, expected.length])
    // Closing checkpoints, which takes longer than all the rest; a few times are enough.
    if (i % 40 === 0) {
      append(segments, ['after'], 'live')
      expect([place, notesOf(segments).sort()]).toEqual([place, [...expected, 'after'].sort()])
    }
    void segments.close()
    rmSync(cut, { recursive: true })
  }
  void close()
  expect(places.length).toBeGreaterThan(400)
})

/** Bytes of a frame to damage: page number, size of the commit, salt, checksum, page. */
const PLACES_IN_FRAME = [3, 7, 8, 15, 16, 23, 24, 8_000, FRAME_BYTES - 1]

/** Every kind of place, in turn over the frames; and the header. */
function placesToDamage(walBytes: number): number[] {
  const frames = Math.floor((walBytes - WAL_HEADER_BYTES) / FRAME_BYTES)
  const inFrames = Array.from({ length: frames }, (_, frame) => {
    return WAL_HEADER_BYTES + frame * FRAME_BYTES + PLACES_IN_FRAME[frame % PLACES_IN_FRAME.length]!
  })
  return [0, 3, 9, 17, 23, 31, ...inFrames]
}

test('wherever a byte of the WAL is damaged, a loss is reported and the damaged files are kept, unless it may be a commit torn by the crash', async () => {
  const { directory, wal, commits, close } = crashedLog()
  const found = { reported: 0, silent: 0 }
  for (const place of placesToDamage(wal.length)) {
    const damaged = folders.copy(directory)
    const bytes = Buffer.from(wal)
    bytes[place]! ^= 0x11
    writeFileSync(join(damaged, '0.db-wal'), bytes)
    const frameAt = place - ((place - WAL_HEADER_BYTES) % FRAME_BYTES)
    const left = commits.filter(({ walEnd }) => place >= WAL_HEADER_BYTES && walEnd <= frameAt)
    const lost = commits.length - left.length
    const reports: OffsetRange[] = []
    const segments = open(damaged, (range) => reports.push(range))
    expect([place, notesOf(segments).sort()]).toEqual([place, left.flatMap(({ notes }) => notes).sort()])
    const end = left.reduce((sum, { notes }) => sum + notes.length, 0)
    const report = { from: end, to: SEGMENT_OFFSETS }
    // Damage in the mark of a commit's end can make two commits look like one, and one like two.
    const isUnclear = lost === 2 || (lost === 1 && place - frameAt < 24)
    const isReported = isUnclear ? reports.length > 0 : lost > 2
    expect([place, reports, segments.damaged]).toEqual([place, isReported ? [report] : [], isReported ? [report] : []])
    expect([place, segments.end]).toEqual([place, isReported ? SEGMENT_OFFSETS : end])
    if (isReported) expect(readFileSync(join(damaged, `${end}.db-wal.damaged`)).equals(bytes)).toBe(true)
    found[isReported ? 'reported' : 'silent']++
    await segments.close()
    rmSync(damaged, { recursive: true })
  }
  await close()
  expect(found.reported).toBeGreaterThan(50)
  expect(found.silent).toBeGreaterThan(0)
})
