import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { testRecord } from '../conformance.ts'
import type { DamageNotice } from './log-calls.ts'
import { LogFolders, notesIn, openLog, segmentFiles } from './log-folders.ts'
import { SEGMENT_OFFSETS } from './segments/segment.ts'
import { PAGE_BYTES } from './segments/segment-files.ts'

const folders = new LogFolders()
afterAll(() => folders[Symbol.dispose]())

describe('a start after a crash', () => {
  /** A log that crashed with everything of its one segment in the WAL. */
  async function crashed(): Promise<string> {
    const directory = folders.create()
    await using log = await openLog(directory)
    for (let i = 0; i < 10; i++) await log.append(0, 'live', testRecord('source-a', `${i}`))
    return folders.copy(directory)
  }
  /** A log of one closed segment. */
  async function closed(): Promise<string> {
    const directory = await crashed()
    await (await openLog(directory))[Symbol.asyncDispose]()
    return directory
  }
  const all = Array.from({ length: 10 }, (_, i) => `${i}`)

  test('finds all in the WAL although the header of the open segment is gone', async () => {
    const directory = await crashed()
    const file = join(directory, '0.db')
    writeFileSync(file, Buffer.alloc(statSync(file).size, 'not what it was '))
    await using log = await openLog(directory)
    expect(await notesIn(log)).toEqual(all)
  })

  test.each([0, 9])(
    'reports records that damage in the WAL cut off, and keeps the damaged files; readers passed offset %d',
    async (notBefore) => {
      const directory = await crashed()
      const wal = join(directory, '0.db-wal')
      const damaged = readFileSync(wal)
      // In the frames of the later half of the commits.
      damaged[Math.floor(damaged.length * 0.6)]! ^= 1
      writeFileSync(wal, damaged)
      let left: (string | undefined)[] = []
      const notices: DamageNotice[] = []
      for (const run of [0, 1]) {
        await using log = await openLog(directory, { notBefore, onDamage: (notice) => notices.push(notice) })
        left = (await notesIn(log)).filter((note) => note !== 'new')
        expect(left.length).toBeGreaterThan(0)
        expect(left).toEqual(all.slice(0, left.length))
        expect(log.damaged()).toEqual([{ from: left.length, to: SEGMENT_OFFSETS }])
        expect(await log.append(0, 'live', testRecord('source-a', 'new'))).toBe(SEGMENT_OFFSETS + run)
      }
      expect(notices.map(({ range }) => range)).toEqual([{ from: left.length, to: SEGMENT_OFFSETS }])
      expect(readFileSync(join(directory, `${left.length}.db-wal.damaged`))).toEqual(damaged)
    },
  )

  test('reports the records that readers have passed and that are gone from the end of the WAL', async () => {
    const directory = await crashed()
    const wal = join(directory, '0.db-wal')
    truncateSync(wal, Math.floor(statSync(wal).size * 0.6))
    await using log = await openLog(directory, { notBefore: 9 })
    const left = await notesIn(log)
    expect(log.damaged()).toEqual([{ from: left.length, to: 9 }])
    expect(await log.append(0, 'live', testRecord('source-a', 'new'))).toBe(9)
  })

  test('sets an open segment aside whose file is emptied, and keeps its WAL for a person to look at', async () => {
    const directory = await crashed()
    truncateSync(join(directory, '0.db'), 0)
    await using log = await openLog(directory)
    expect(await notesIn(log)).toEqual([])
    expect(log.damaged()).toEqual([{ from: 0, to: SEGMENT_OFFSETS }])
    expect(await log.append(0, 'live', testRecord('source-a', 'x'))).toBe(SEGMENT_OFFSETS)
    expect(statSync(join(directory, '0.db-wal.damaged')).size).toBeGreaterThan(10 * PAGE_BYTES)
  })

  /** A crash while a segment was about to be closed: a newer one is beside it. */
  async function crashedWhileClosing(): Promise<string> {
    const directory = folders.create()
    const copy = folders.copy(await crashed())
    await using log = await openLog(directory, { notBefore: 10 })
    await log.append(0, 'live', testRecord('source-a', '10'))
    for (const ending of ['', '-wal']) {
      writeFileSync(join(copy, `10.db${ending}`), readFileSync(join(directory, `10.db${ending}`)))
    }
    return copy
  }

  test('serves a segment that had been filled but not yet checkpointed', async () => {
    await using log = await openLog(await crashedWhileClosing())
    expect(await notesIn(log)).toEqual([...all, '10'])
  })

  test('reports what damage in the WAL of a segment that was being closed cut off', async () => {
    const directory = await crashedWhileClosing()
    const wal = join(directory, '0.db-wal')
    const damaged = readFileSync(wal)
    damaged[Math.floor(damaged.length * 0.6)]! ^= 1
    writeFileSync(wal, damaged)
    for (const _ of [0, 1]) {
      await using log = await openLog(directory)
      const left = (await notesIn(log)).length - 1
      expect(await notesIn(log)).toEqual([...all.slice(0, left), '10'])
      expect(log.damaged()).toEqual([{ from: left, to: 10 }])
      expect(readFileSync(join(directory, `${left}.db-wal.damaged`))).toEqual(damaged)
    }
  })

  test.each([false, true])('waits for no checkpoint of such a segment; a source has a window: %s', async (hasDedup) => {
    const directory = await crashedWhileClosing()
    // The lock that a checkpoint holds until its end.
    using checkpoint = new DatabaseSync(join(directory, '0.db'))
    checkpoint.exec('BEGIN IMMEDIATE')
    await using log = await openLog(directory, { hasDedup })
    expect(await notesIn(log)).toEqual([...all, '10'])
    checkpoint.exec('ROLLBACK')
  })

  test('finds a segment that was only just begun, at whatever point of it', async () => {
    const source = await closed()
    const blank = folders.create()
    await using empty = await openLog(blank, { notBefore: 10 })
    const begun = readFileSync(join(blank, '10.db'))
    const states: [string, (directory: string) => void][] = [
      ['file not named yet', (directory) => writeFileSync(join(directory, '10.db.new'), begun)],
      ['file not named and not whole', (directory) => writeFileSync(join(directory, '10.db.new'), '')],
      ['file named', (directory) => writeFileSync(join(directory, '10.db'), begun)],
      [
        'WAL made',
        (directory) => {
          writeFileSync(join(directory, '10.db'), begun)
          writeFileSync(join(directory, '10.db-wal'), '')
        },
      ],
    ]
    for (const [name, make] of states) {
      const directory = folders.copy(source)
      make(directory)
      for (const note of ['10', '11']) {
        await using log = await openLog(directory)
        expect([name, log.damaged(), log.end(0)]).toEqual([name, [], Number(note)])
        expect(await log.append(0, 'live', testRecord('source-a', note))).toBe(Number(note))
        expect((await notesIn(log)).length).toBe(Number(note) + 1)
      }
    }
    expect(empty.trouble()).toBeUndefined()
  })

  test('begins anew where the newest file is gone altogether', async () => {
    const directory = folders.copy(await closed())
    for (const file of segmentFiles(directory)) rmSync(join(directory, file))
    await using log = await openLog(directory, { notBefore: 10 })
    expect(await log.append(0, 'live', testRecord('source-a', 'x'))).toBe(10)
  })
})
