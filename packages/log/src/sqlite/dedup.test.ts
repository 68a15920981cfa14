import { renameSync } from 'node:fs'
import { messageHash } from '@millrace/protocol'
import { ManualClock, randomFrom } from '@millrace/std'
import { afterAll, expect, test } from 'vitest'
import { testRecord } from '../conformance.ts'
import { MAX_DEDUP_WINDOW_MS } from '../dedup.ts'
import { LogFolders, openLog } from './log-folders.ts'
import type { SqliteEventLog } from './sqlite-event-log.ts'

/* contracts/ingest.md §5 [D139]: the same decision for every reader, after restarts and crashes. */

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const WINDOW_MS = 2_000
const folders = new LogFolders()
afterAll(() => folders[Symbol.dispose]())

function recordOf(sourceId: string, acceptedAt: number, messageIds: readonly string[]) {
  const record = testRecord(sourceId, 'note')
  const messageHashes = Buffer.concat(messageIds.map((messageId) => messageHash(messageId)))
  return { ...record, header: { ...record.header, acceptedAt, messageHashes } }
}

test('restarts and crashes change no decision, whether the window is read at the start or when it is first needed', async () => {
  const random = randomFrom(SEED)
  let directory = folders.create()
  const options = () => ({ hasDedup: random() < 0.5, segmentBytes: 60_000, cacheBytes: random() < 0.5 ? 0 : 1_000_000 })
  let log: SqliteEventLog = await openLog(directory, options())
  const lastAt = new Map<string, number>()
  const expected = new Map<number, number[] | undefined>()
  let acceptedAt = 1_772_615_731_900
  for (let round = 0; round < 12; round++) {
    const appends = Array.from({ length: 60 }, () => {
      acceptedAt += Math.floor(random() * 40)
      const sourceId = random() < 0.5 ? 'source-a' : 'source-b'
      const messageIds = Array.from({ length: 1 + Math.floor(random() * 4) }, () => `m-${Math.floor(random() * 120)}`)
      // A source may have its window switched off for a while.
      const hasWindow = random() < 0.9
      const duplicates = messageIds.flatMap((messageId, index) => {
        if (!hasWindow) return []
        const key = `${sourceId} ${messageId}`
        const isDuplicate = acceptedAt - (lastAt.get(key) ?? 0) < WINDOW_MS
        if (!isDuplicate) lastAt.set(key, acceptedAt)
        return isDuplicate ? [index] : []
      })
      const stream = random() < 0.2 ? 'backfill' : 'live'
      const record = recordOf(sourceId, acceptedAt, messageIds)
      return log.append(stream, record, hasWindow ? { windowMs: WINDOW_MS } : undefined).then((offset) => {
        expected.set(offset, duplicates.length === 0 ? undefined : duplicates)
      })
    })
    await Promise.all(appends)
    if (random() < 0.5) {
      // What a kill at this moment would leave.
      directory = folders.copy(directory)
      await log[Symbol.asyncDispose]()
    } else {
      await log[Symbol.asyncDispose]()
    }
    log = await openLog(directory, options())
  }
  const records = await log.get(0, [...expected.keys()])
  await log[Symbol.asyncDispose]()
  const found = new Map([...expected.keys()].map((offset, i) => [offset, records[i]?.duplicates]))
  expect(
    found
      .values()
      .filter((each) => each !== undefined)
      .toArray().length,
  ).toBeGreaterThan(50)
  for (const [offset, duplicates] of found) {
    expect([SEED, offset, duplicates && [...duplicates]]).toEqual([SEED, offset, expected.get(offset)])
  }
})

test('an event whose append failed is none that was seen', async () => {
  const directory = folders.create()
  const clock = new ManualClock(0)
  await using log = await openLog(directory, { clock })
  const send = () => log.append('live', recordOf('source-a', 1_000, ['m']), { windowMs: WINDOW_MS })
  await log.append('live', recordOf('source-a', 1_000, ['other']), { windowMs: WINDOW_MS })
  renameSync(directory, `${directory}-moved`)
  await clock.advance(2_000)
  await expect(log.check()).rejects.toThrow()
  await expect(send()).rejects.toThrow()
  renameSync(`${directory}-moved`, directory)
  await clock.advance(1_000)
  await log.oldest()
  const [first, second] = await log.get(0, [await send(), await send()])
  expect([first?.duplicates, second?.duplicates]).toEqual([undefined, new Set([0])])
})

test('a segment without sources that have a window has nothing of it, and is read when one gets a window', async () => {
  const directory = folders.create()
  {
    await using log = await openLog(directory)
    await log.append('live', recordOf('source-a', 1_000, ['m', 'm']))
  }
  await using log = await openLog(directory)
  const offset = await log.append('live', recordOf('source-a', 2_000, ['m', 'm']), { windowMs: WINDOW_MS })
  const [before, after] = await log.get(0, [0, offset])
  expect([before?.duplicates, after?.duplicates]).toEqual([undefined, new Set([1])])
})

test('the log keeps what a restart needs for the longest window, however short its retention is', async () => {
  const directory = folders.create()
  const clock = new ManualClock(Date.parse('2026-03-04T09:00:00.000Z'))
  const windowMs = MAX_DEDUP_WINDOW_MS
  const send = (log: SqliteEventLog) => log.append('live', recordOf('source-a', clock.now(), ['m']), { windowMs })
  {
    await using log = await openLog(directory, { clock })
    await send(log)
  }
  {
    await using log = await openLog(directory, { clock, hasDedup: true })
    await log.append('live', recordOf('source-b', clock.now(), ['n']))
    await log.retain(0, 2, 3_600_000)
    await clock.advance(20 * 3_600_000)
    await log.retain(0, 2, 3_600_000)
  }
  await using log = await openLog(directory, { clock, hasDedup: true })
  const offset = await send(log)
  expect((await log.get(0, [offset]))[0]?.duplicates).toEqual(new Set([0]))
})
