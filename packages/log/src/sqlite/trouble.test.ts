import { renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { ManualClock } from '@millrace/std'
import { afterAll, describe, expect, test } from 'vitest'
import { testRecord } from '../conformance.ts'
import { LogFolders, notesIn, openLog } from './log-folders.ts'

const folders = new LogFolders()
afterAll(() => folders[Symbol.dispose]())

const unavailable = expect.objectContaining({ name: 'LogUnavailableError', code: 'LOG_UNAVAILABLE' })

describe('a directory that is deleted', () => {
  test('is noticed by the first look after 2 s without a commit', async () => {
    const directory = folders.create()
    const clock = new ManualClock(0)
    await using log = await openLog(directory, { clock })
    await log.append(0, 'live', testRecord('source-a', 'lost'))
    rmSync(directory, { recursive: true })
    await clock.advance(2_000)
    await expect(log.check()).rejects.toEqual(unavailable)
    expect(log.trouble()).toMatch(/was moved or deleted/)
    await expect(log.append(0, 'live', testRecord('source-a', 'x'))).rejects.toEqual(unavailable)
  })

  test('is noticed under load within 2 s', async () => {
    const directory = folders.create()
    await using log = await openLog(directory)
    await log.append(0, 'live', testRecord('source-a', 'lost'))
    rmSync(directory, { recursive: true })
    const deletedAt = performance.now()
    const refused = async () => {
      for (;;) await log.append(0, 'live', testRecord('source-a', 'lost'))
    }
    await expect(refused()).rejects.toEqual(unavailable)
    expect(performance.now() - deletedAt).toBeLessThan(2_000)
  })

  test('heals by itself when it was only moved and comes back', async () => {
    const directory = folders.create()
    const clock = new ManualClock(0)
    await using log = await openLog(directory, { clock })
    await log.append(0, 'live', testRecord('source-a', 'before'))
    renameSync(directory, `${directory}-moved`)
    await clock.advance(2_000)
    await expect(log.check()).rejects.toEqual(unavailable)
    renameSync(`${directory}-moved`, directory)
    await clock.advance(1_000)
    // The probe answers from its own thread; a call behind it is answered after it.
    await log.oldest(0)
    expect(log.trouble()).toBeUndefined()
    await log.append(0, 'live', testRecord('source-a', 'after'))
    expect(await notesIn(log)).toEqual(['before', 'after'])
  })
})

test.each([3, 70])('of %i records of one request all are stored or none, among others that wait', async (count) => {
  const directory = folders.create()
  const clock = new ManualClock(0)
  await using log = await openLog(directory, { clock, partitions: 4 })
  const request = (name: string) =>
    Array.from({ length: count }, (_, i) => {
      return { partition: i % 4, stream: 'live', record: testRecord('source-a', `${name} ${i}`) } as const
    })
  const commits: number[] = []
  log.onCommit((partition) => void commits.push(partition))
  const others = Array.from({ length: 62 }, (_, i) => log.append(0, 'live', testRecord('source-a', `${i}`)))
  const all = log.appendAll(request('stored'))
  await Promise.all([...others, all])
  const offsets = await all
  expect(offsets).toEqual(Array.from({ length: count }, (_, i) => offsets[0]! + i))
  // A commit tells of each of its partitions once: the first one held only the others, which fill it.
  expect(commits.toSorted()).toEqual(count === 3 ? [0, 0, 1, 2] : [0, 0, 1, 2, 3])
  renameSync(directory, `${directory}-moved`)
  await clock.advance(2_000)
  await expect(log.check()).rejects.toThrow()
  await expect(log.appendAll(request('refused'))).rejects.toEqual(unavailable)
  renameSync(`${directory}-moved`, directory)
  await clock.advance(1_000)
  await log.oldest(0)
  await log.append(0, 'live', testRecord('source-a', 'after'))
  expect((await notesIn(log)).filter((note) => note?.startsWith('refused'))).toEqual([])
})

test('a log that is closed finishes what was begun and refuses the rest', async () => {
  const directory = folders.create()
  const log = await openLog(directory)
  const begun = Array.from({ length: 200 }, (_, i) => log.append(0, 'live', testRecord('source-a', `${i}`)))
  const closed = log[Symbol.asyncDispose]()
  await expect(log.append(0, 'live', testRecord('source-a', 'late'))).rejects.toEqual(unavailable)
  expect(await Promise.all(begun)).toEqual(Array.from({ length: 200 }, (_, i) => i))
  await closed
  await using again = await openLog(directory)
  expect(await notesIn(again)).toHaveLength(200)
})

test('checks of an idle log do not fill the disk; what is appended later survives a kill', async () => {
  const directory = folders.create()
  const clock = new ManualClock(0)
  await using log = await openLog(directory, { clock })
  for (let probe = 0; probe < 100; probe++) {
    await clock.advance(2_000)
    await log.check()
  }
  await log.retain(0, 0, 0)
  expect(log.sizeBytes()).toBeLessThan(1_300_000)
  await log.append(0, 'live', testRecord('source-a', 'first'))
  await using killed = await openLog(folders.copy(directory))
  expect([await notesIn(log), await notesIn(killed), killed.damaged()]).toEqual([['first'], ['first'], []])
})

test('concurrent checks share one write to the log', async () => {
  const directory = folders.create()
  const clock = new ManualClock(0)
  await using log = await openLog(directory, { clock })
  const sizeBytes = () => statSync(join(directory, '0.db-wal')).size
  await log.check()
  const before = sizeBytes()
  await clock.advance(2_000)
  await log.check()
  const oneProbe = sizeBytes() - before
  await clock.advance(2_000)
  await Promise.all(Array.from({ length: 50 }, () => log.check()))
  expect(sizeBytes() - before).toBe(2 * oneProbe)
})

test('in trouble the last check answers for a second', async () => {
  const directory = folders.create()
  const clock = new ManualClock(0)
  await using log = await openLog(directory, { clock })
  renameSync(directory, `${directory}-moved`)
  await expect(log.check()).rejects.toEqual(unavailable)
  renameSync(`${directory}-moved`, directory)
  await clock.advance(999)
  await expect(log.check()).rejects.toEqual(unavailable)
  await clock.advance(1)
  await log.check()
})

test('a log that is closed waits for a commit that hangs without using the processor', async () => {
  const directory = folders.create()
  const log = await openLog(directory)
  using other = new DatabaseSync(join(directory, '0.db'))
  other.exec('BEGIN IMMEDIATE')
  const appended = log.append(0, 'live', testRecord('source-a', 'hangs'))
  // The turn in which the commit begins.
  await setImmediate()
  const closed = log[Symbol.asyncDispose]()
  await setImmediate()
  expect(process.getActiveResourcesInfo()).not.toContain('Immediate')
  other.exec('ROLLBACK')
  expect(await appended).toBe(0)
  await closed
})
