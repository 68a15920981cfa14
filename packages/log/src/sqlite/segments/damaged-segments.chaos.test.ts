import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testRecord } from '../../conformance.ts'
import type { OffsetRange } from '../../event-log.ts'
import { LogFolders, notesIn, openLog, segmentFiles } from '../log-folders.ts'
import { SEGMENT_OFFSETS } from './segment.ts'

const folders = new LogFolders()
afterAll(() => folders[Symbol.dispose]())

const PAGE = 16_384
const SMALL_SEGMENTS = { segmentBytes: 100_000 }

/** A closed log of several segments, and the notes that each of its files holds. */
let original: { directory: string; files: string[]; notes: Map<string, string[]>; end: number }
beforeAll(async () => {
  const directory = folders.create()
  const notes = new Map<string, string[]>()
  {
    await using log = await openLog(directory, SMALL_SEGMENTS)
    for (let i = 0; i < 60; i++) {
      const stream = i % 7 === 0 ? 'backfill' : 'live'
      await log.append(0, stream, testRecord('source-a', `${i}`, 60))
    }
  }
  const files = segmentFiles(directory)
  expect(files.length).toBeGreaterThan(4)
  for (const [i, file] of files.entries()) {
    const [from, to] = [Number.parseInt(file, 10), files[i + 1] === undefined ? 60 : Number.parseInt(files[i + 1]!, 10)]
    notes.set(
      file,
      Array.from({ length: to - from }, (_, n) => `${from + n}`),
    )
  }
  original = { directory, files, notes, end: 60 }
})

function overwrite(path: string, at: number, bytes: Uint8Array): void {
  const file = openSync(path, 'r+')
  writeSync(file, bytes, 0, bytes.length, at)
  closeSync(file)
}

const junk = (length: number) => Buffer.alloc(length, 'not what it was ')

const DAMAGES: [name: string, damage: (path: string) => void][] = [
  ['is emptied', (path) => truncateSync(path, 0)],
  ['is cut after its first page', (path) => truncateSync(path, PAGE)],
  ['is cut in a page', (path) => truncateSync(path, 3 * PAGE - 100)],
  ['loses its last page', (path) => truncateSync(path, statSync(path).size - PAGE)],
  ['has its header zeroed', (path) => overwrite(path, 0, Buffer.alloc(100))],
  ['has its first page overwritten', (path) => overwrite(path, 0, junk(PAGE))],
  ['has its table of contents zeroed', (path) => overwrite(path, 100, Buffer.alloc(PAGE - 100))],
  ['has every later page overwritten', (path) => overwrite(path, PAGE, junk(statSync(path).size - PAGE))],
  ['is replaced by a text', (path) => writeFileSync(path, 'a text')],
]

describe('a closed segment that', () => {
  for (const [i, [name, damage]] of DAMAGES.entries()) {
    // The newest is the one that a start reads; the others differ in little.
    for (const which of i === 0
      ? (['first', 'middle', 'newest'] as const)
      : ([i % 2 === 0 ? 'newest' : 'middle'] as const)) {
      test(`${name} (the ${which}) is set aside; the rest is served and appends go on`, async () => {
        const directory = folders.copy(original.directory)
        const at = { first: 0, middle: 2, newest: original.files.length - 1 }[which]
        const file = original.files[at]!
        const from = Number.parseInt(file, 10)
        damage(join(directory, file))
        const remaining = [...original.notes].filter(([other]) => other !== file).flatMap(([, notes]) => notes)
        const range = {
          from,
          to: which === 'newest' ? from + SEGMENT_OFFSETS : Number.parseInt(original.files[at + 1]!, 10),
        }

        const noticed: OffsetRange[] = []
        {
          await using log = await openLog(directory, SMALL_SEGMENTS)
          log.onDamage((_, found) => noticed.push(found))
          expect(sorted(await notesIn(log))).toEqual(sorted(remaining))
          expect(log.damaged()).toEqual([range])
          // Damage that the start finds is in `damaged` before anybody can listen.
          expect(noticed).toEqual(which === 'newest' ? [] : [range])
          expect(await log.get(0, [from])).toEqual([undefined])
          const offset = await log.append(0, 'live', testRecord('source-a', 'after'))
          expect(offset).toBeGreaterThanOrEqual(which === 'newest' ? range.to : original.end)
        }
        expect(segmentFiles(directory, '.db.damaged')).toEqual([`${file}.damaged`])
        expect(existsSync(join(directory, file))).toBe(false)

        if (which !== 'newest') return
        await using again = await openLog(directory, SMALL_SEGMENTS)
        expect(again.damaged()).toEqual([range])
        expect(sorted(await notesIn(again))).toEqual(sorted([...remaining, 'after']))
      })
    }
  }

  test('is damaged like its neighbour has a range of its own, whichever is found first', async () => {
    const firsts = original.files.slice(1, 4).map((file) => Number.parseInt(file, 10))
    const ranges = [0, 1].map((i) => ({ from: firsts[i]!, to: firsts[i + 1]! }))
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const directory = folders.copy(original.directory)
      for (const file of original.files.slice(1, 3)) truncateSync(join(directory, file), PAGE)
      await using log = await openLog(directory, SMALL_SEGMENTS)
      for (const i of order) expect(await log.get(0, [firsts[i]!])).toEqual([undefined])
      expect(log.damaged()).toEqual(ranges)
    }
  })

  test('has one byte of a record changed is set aside when that record is read', async () => {
    const file = original.files[1]!
    for (const read of ['read', 'get'] as const) {
      const directory = folders.copy(original.directory)
      const path = join(directory, file)
      const bytes = readFileSync(path)
      const note = original.notes.get(file)![0]!
      bytes[bytes.indexOf(`{"note":"${note}"`) + 9]! ^= 1
      writeFileSync(path, bytes)
      await using log = await openLog(directory, SMALL_SEGMENTS)
      const from = Number.parseInt(file, 10)
      if (read === 'get') expect(await log.get(0, [from])).toEqual([undefined])
      const served = await notesIn(log)
      expect(served).not.toContain(note)
      expect(served).toHaveLength(60 - original.notes.get(file)!.length)
      expect(log.damaged()).toEqual([{ from, to: Number.parseInt(original.files[2]!, 10) }])
    }
  })
})

function sorted(notes: readonly (string | undefined)[]): (string | undefined)[] {
  return [...notes].sort()
}
