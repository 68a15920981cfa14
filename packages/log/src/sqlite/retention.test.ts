import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ManualClock } from '@millrace/std'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noteOf, testRecord } from '../conformance.ts'
import { LogFolders, notesIn, openLog, segmentFiles } from './log-folders.ts'

const folders = new LogFolders()
afterAll(() => folders[Symbol.dispose]())

const HOUR = 3_600_000
const KEEP = 168 * HOUR
/** After the records were accepted. */
const START = Date.parse('2026-03-04T10:00:00.000Z')

const original = folders.create()
beforeAll(async () => {
  for (let i = 0; i < 4; i++) {
    await using log = await openLog(original)
    await log.append(0, 'live', testRecord('source-a', `${i}`))
  }
  expect(segmentFiles(original)).toEqual(['0.db', '1.db', '2.db', '3.db'])
})

/** A log of four closed segments of one record each, at offsets 0 to 3. */
function fourSegments() {
  const directory = folders.copy(original)
  const clock = new ManualClock(START)
  return { directory, clock, open: () => openLog(directory, { clock }) }
}

test('a log of one partition opens with several', async () => {
  const { directory } = fourSegments()
  {
    await using log = await openLog(directory, { partitions: 16 })
    await log.append(15, 'backfill', testRecord('source-b', 'new'))
    expect(await notesIn(log)).toEqual(['0', '1', '2', '3'])
  }
  await using log = await openLog(directory, { partitions: 16, cacheBytes: 0 })
  expect(noteOf((await log.get(15, [4]))[0])).toBe('new')
  expect(log.end(0)).toBe(5)
})

describe('retention', () => {
  test('drops a segment as a whole, oldest first, once it has been finished for as long as it is to be kept', async () => {
    const { directory, clock, open } = fourSegments()
    await using log = await open()
    const bytes = log.sizeBytes()
    await log.retain(0, 2, KEEP)
    await clock.advance(10 * HOUR)
    await log.retain(0, 3, KEEP)
    await clock.advance(KEEP - 10 * HOUR - 1)
    await log.retain(0, 3, KEEP)
    expect(await notesIn(log)).toEqual(['0', '1', '2', '3'])
    await clock.advance(1)
    await log.retain(0, 3, KEEP)
    expect(await notesIn(log)).toEqual(['2', '3'])
    expect(segmentFiles(directory).slice(0, 2)).toEqual(['2.db', '3.db'])
    expect(log.sizeBytes()).toBeLessThan(bytes)
    expect(await log.oldest(0)).toMatchObject({ offset: 2 })
    expect(await log.get(0, [0, 2])).toEqual([undefined, expect.objectContaining({ offset: 2 })])
    await clock.advance(10 * HOUR)
    await log.retain(0, 3, KEEP)
    expect(await notesIn(log)).toEqual(['3'])
    // Dropped offsets were not lost to damage, and are not given out again.
    expect(log.damaged()).toEqual([])
    expect(await log.append(0, 'live', testRecord('source-a', '4'))).toBe(4)
  })

  test('keeps a segment until its records of all partitions are finished', async () => {
    const directory = folders.create()
    const clock = new ManualClock(START)
    for (const partition of [0, 3]) {
      await using log = await openLog(directory, { clock, partitions: 4 })
      await log.append(partition, 'live', testRecord('source-a', `${partition}`))
    }
    await using log = await openLog(directory, { clock, partitions: 4 })
    for (const partition of [0, 1, 2]) await log.retain(partition, 2, 0)
    expect(segmentFiles(directory).slice(0, 2)).toEqual(['0.db', '1.db'])
    await log.retain(3, 1, 0)
    expect(segmentFiles(directory)).not.toContain('0.db')
    expect(await log.oldest(0)).toBeUndefined()
    expect(await log.oldest(3)).toMatchObject({ offset: 1 })
  })

  test('keeps what is not finished, and the segment that is written, for ever', async () => {
    const { clock, open } = fourSegments()
    await using log = await open()
    await log.append(0, 'live', testRecord('source-a', '4'))
    for (let day = 0; day < 30; day++) {
      await log.retain(0, 2, KEEP)
      await clock.advance(24 * HOUR)
    }
    expect(await notesIn(log)).toEqual(['2', '3', '4'])
    for (let day = 0; day < 30; day++) {
      await log.retain(0, 5, KEEP)
      await clock.advance(24 * HOUR)
    }
    expect(await notesIn(log)).toEqual(['4'])
  })

  test('a segment that is finished only in part stays whole', async () => {
    const directory = folders.create()
    const clock = new ManualClock(START)
    {
      await using log = await openLog(directory, { clock })
      for (let i = 0; i < 3; i++) await log.append(0, 'live', testRecord('source-a', `${i}`))
    }
    await using log = await openLog(directory, { clock })
    for (const finishedBefore of [1, 2]) {
      await log.retain(0, finishedBefore, 0)
      expect(await notesIn(log)).toEqual(['0', '1', '2'])
    }
    await log.retain(0, 3, 0)
    expect(await notesIn(log)).toEqual([])
  })

  test.each([
    ['not open', false, 100],
    ['open', true, 16_384],
  ])('a finished segment that is found damaged hides no other one; its file is %s', async (_, isOpen, bytesLeft) => {
    const { directory, clock, open } = fourSegments()
    await using log = await open()
    if (isOpen) await log.get(0, [0])
    truncateSync(join(directory, '0.db'), bytesLeft)
    for (const finishedBefore of [1, 2]) {
      await log.retain(0, finishedBefore, KEEP)
      await clock.advance(KEEP)
      await log.retain(0, finishedBefore, KEEP)
      expect(log.damaged()).toEqual([{ from: 0, to: 1 }])
      expect(await notesIn(log)).toEqual(['1', '2', '3'].slice(finishedBefore - 1))
    }
    expect(segmentFiles(directory).slice(0, 2)).toEqual(['2.db', '3.db'])
  })

  test('knows over a restart since when a segment is finished', async () => {
    const { clock, open } = fourSegments()
    {
      await using log = await open()
      await log.retain(0, 4, KEEP)
    }
    await clock.advance(KEEP)
    await using log = await open()
    await log.retain(0, 4, KEEP)
    expect(await notesIn(log)).toEqual([])
  })

  test.each([
    ['in the future', START + 10 * KEEP],
    ['long before the records were accepted', 3_600_000],
  ])('counts from now on where the clock was wrong when a segment was finished: %s', async (_, noted) => {
    const { directory, clock } = fourSegments()
    {
      await using log = await openLog(directory, { clock: new ManualClock(noted) })
      await log.retain(0, 4, KEEP)
    }
    await using log = await openLog(directory, { clock })
    await log.retain(0, 4, KEEP)
    await clock.advance(KEEP - 1)
    await log.retain(0, 4, KEEP)
    expect(await notesIn(log)).toEqual(['0', '1', '2', '3'])
    await clock.advance(KEEP)
    await log.retain(0, 4, KEEP)
    expect(await notesIn(log)).toEqual([])
  })

  test('keeps longer, never shorter, when its notes are lost or are not what they were', async () => {
    for (const notes of ['', 'null', '{"0":"x","1":7}']) {
      const { directory, clock, open } = fourSegments()
      {
        await using log = await open()
        await log.retain(0, 1, KEEP)
      }
      const file = join(directory, 'finished.json')
      expect(readFileSync(file, 'utf8')).toContain('2026-03-04')
      writeFileSync(file, notes)
      await clock.advance(KEEP - 1)
      await using log = await open()
      await log.retain(0, 2, KEEP)
      expect([notes, await notesIn(log)]).toEqual([notes, ['0', '1', '2', '3']])
      await clock.advance(KEEP)
      await log.retain(0, 2, KEEP)
      expect([notes, await notesIn(log)]).toEqual([notes, ['2', '3']])
    }
  })
})

test('an empty segment that is opened again serves what is appended to it, in every partition', async () => {
  const directory = folders.create()
  const open = () => openLog(directory, { partitions: 4, clock: new ManualClock(START) })
  {
    await using log = await open()
    await log.append(3, 'live', testRecord('source-a', 'old'), { attempt: 'exit' })
  }
  {
    // Remembered keys move into the newest segment, which has no record.
    await using log = await open()
    for (let partition = 0; partition < 4; partition++) await log.retain(partition, 1, 0)
  }
  await using log = await open()
  await log.append(3, 'live', testRecord('source-a', 'new'))
  const { records } = await log.read(3, 'live', 0, 1_000)
  expect(records.map(noteOf)).toEqual(['new'])
  expect(await log.oldest(3)).toMatchObject({ offset: 1 })
  expect([...(await log.tally(3, 'live', { from: 0, to: 9 })).keys()]).toEqual(['source-a'])
})

test('a damaged segment that was set aside does not make deleted offsets look kept', async () => {
  const { directory, open } = fourSegments()
  await using log = await open()
  truncateSync(join(directory, '0.db'), 100)
  expect(await notesIn(log)).toEqual(['1', '2', '3'])
  expect(await log.deletedBefore()).toBe(0)
  await log.retain(0, 3, 0)
  expect(await notesIn(log)).toEqual(['3'])
  expect(await log.deletedBefore()).toBe(3)
})

describe('a jump of the wall clock', () => {
  for (const jump of [2 * HOUR, KEEP, -2 * HOUR, -KEEP]) {
    test(`of ${jump / HOUR} hours suspends retention for 24 h`, async () => {
      const { clock, open } = fourSegments()
      await using log = await open()
      await log.retain(0, 4, KEEP)
      await clock.advance(KEEP - HOUR)
      clock.jump(jump)
      for (let hours = 0; hours < 24; hours++) {
        await log.retain(0, 4, KEEP)
        expect(await notesIn(log)).toHaveLength(4)
        await clock.advance(HOUR)
      }
      // Then ages count again; a clock that was set back a week makes all look a week younger.
      await log.retain(0, 4, KEEP)
      expect(await notesIn(log)).toHaveLength(jump === -KEEP ? 4 : 0)
      await clock.advance(2 * KEEP)
      await log.retain(0, 4, KEEP)
      expect(await notesIn(log)).toEqual([])
    })
  }

  test('of less than an hour changes nothing', async () => {
    const { clock, open } = fourSegments()
    await using log = await open()
    await log.retain(0, 4, KEEP)
    await clock.advance(KEEP - HOUR / 2)
    clock.jump(HOUR / 2)
    await log.retain(0, 4, KEEP)
    expect(await notesIn(log)).toEqual([])
  })

  test('does not matter to appends and reads', async () => {
    const clock = new ManualClock(START)
    await using log = await openLog(folders.create(), { clock, segmentBytes: 50_000 })
    for (let i = 0; i < 20; i++) {
      clock.jump((i % 2 === 0 ? 1 : -1) * i * 24 * HOUR)
      expect(await log.append(0, 'live', testRecord('source-a', `${i}`))).toBe(i)
    }
    await log.check()
    expect(await notesIn(log)).toEqual(Array.from({ length: 20 }, (_, i) => `${i}`))
  })
})

test('offsets that readers have passed are never given out again, whatever the files say', async () => {
  const directory = folders.create()
  for (const [notBefore, offset] of [
    [100, 100],
    [0, 101],
    [101, 102],
    [5_000, 5_000],
  ] as const) {
    await using log = await openLog(directory, { notBefore })
    expect(log.end(0)).toBe(offset)
    expect(await log.append(0, 'live', testRecord('source-a', `${offset}`))).toBe(offset)
  }
  await using log = await openLog(directory)
  expect(await notesIn(log)).toEqual(['100', '101', '102', '5000'])
})
