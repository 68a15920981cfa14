import { copyFileSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ManualClock } from '@millrace/std'
import { afterAll, expect, test } from 'vitest'
import { testRecord } from '../../conformance.ts'
import { LogFolders, notesIn, openLog, segmentFiles } from '../log-folders.ts'
import type { SqliteEventLog } from '../sqlite-event-log.ts'

const folders = new LogFolders()
afterAll(() => folders[Symbol.dispose]())

async function close(log: SqliteEventLog) {
  const end = await log.closeNewest()
  return { end, files: await log.closedSegments(end) }
}

test('closed segments hold all that was appended before, and are a log by themselves, while appends go on', async () => {
  await using log = await openLog(folders.create())
  const appends: Promise<number>[] = []
  for (let i = 0; i < 200; i++)
    appends.push(log.append(0, i % 3 === 0 ? 'backfill' : 'live', testRecord('source-a', `${i}`)))
  await appends[99]
  const closing = close(log)
  for (let i = 200; i < 300; i++) appends.push(log.append(0, 'live', testRecord('source-a', `${i}`)))
  const { end, files } = await closing
  const offsets = await Promise.all(appends)
  expect(end).toBeGreaterThan(offsets[99]!)

  const copy = folders.create()
  mkdirSync(copy)
  for (const file of files) copyFileSync(file, join(copy, basename(file)))
  await using other = await openLog(copy)
  const before = new Set(
    appends
      .keys()
      .filter((i) => offsets[i]! < end)
      .map(String),
  )
  expect(new Set(await notesIn(other))).toEqual(before)
  expect(other.end(0)).toBe(end)
  expect(other.damaged()).toEqual([])
  expect((await notesIn(log)).length).toBe(300)
})

test('closing twice without an append in between begins no further segment', async () => {
  const directory = folders.create()
  await using log = await openLog(directory)
  expect(await close(log)).toEqual({ end: 0, files: [] })
  await log.append(0, 'live', testRecord('source-a', '0'))
  const once = await close(log)
  expect(once).toEqual({ end: 1, files: [join(directory, '0.db')] })
  expect(await close(log)).toEqual(once)
  expect(segmentFiles(directory)).toEqual(['0.db', '1.db'])
})

test('while retention is held no segment is dropped, however old', async () => {
  const clock = new ManualClock(Date.parse('2026-03-04T09:00:00.000Z'))
  const directory = folders.create()
  for (let i = 0; i < 3; i++) {
    await using log = await openLog(directory)
    await log.append(0, 'live', testRecord('source-a', `${i}`))
  }
  await using log = await openLog(directory, { clock })
  await log.retain(0, 2, 1_000)
  await clock.advance(10_000)
  const holds = [log.holdRetention(), log.holdRetention()]
  holds[0]![Symbol.dispose]()
  holds[0]![Symbol.dispose]()
  await log.retain(0, 2, 1_000)
  expect(await notesIn(log)).toEqual(['0', '1', '2'])
  holds[1]![Symbol.dispose]()
  await log.retain(0, 2, 1_000)
  expect(await notesIn(log)).toEqual(['2'])
})
