import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { messageHash } from '@millrace/protocol'
import { ManualClock, randomFrom } from '@millrace/std'
import { afterAll, expect, test } from 'vitest'
import { testRecord } from '../../conformance.ts'
import { Attempts } from '../../dedup/attempts.ts'
import { DedupWindow } from '../../dedup/dedup-window.ts'
import { type BatchAttempt, type Dedup, MAX_DEDUP_WINDOW_MS } from '../../dedup.ts'
import { LogFolders, openLog } from '../log-folders.ts'
import type { SqliteEventLog } from '../sqlite-event-log.ts'

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
      return log.append(0, stream, record, hasWindow ? { windowMs: WINDOW_MS } : undefined).then((offset) => {
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
  const send = () => log.append(0, 'live', recordOf('source-a', 1_000, ['m']), { windowMs: WINDOW_MS })
  await log.append(0, 'live', recordOf('source-a', 1_000, ['other']), { windowMs: WINDOW_MS })
  renameSync(directory, `${directory}-moved`)
  await clock.advance(2_000)
  await expect(log.check()).rejects.toThrow()
  await expect(send()).rejects.toThrow()
  renameSync(`${directory}-moved`, directory)
  await clock.advance(1_000)
  await log.oldest(0)
  const [first, second] = await log.get(0, [await send(), await send()])
  expect([first?.duplicates, second?.duplicates]).toEqual([undefined, new Set([0])])
})

test('a segment without sources that have a window has nothing of it, and is read when one gets a window', async () => {
  const directory = folders.create()
  {
    await using log = await openLog(directory)
    await log.append(0, 'live', recordOf('source-a', 1_000, ['m', 'm']))
  }
  await using log = await openLog(directory)
  const offset = await log.append(0, 'live', recordOf('source-a', 2_000, ['m', 'm']), { windowMs: WINDOW_MS })
  const [before, after] = await log.get(0, [0, offset])
  expect([before?.duplicates, after?.duplicates]).toEqual([undefined, new Set([1])])
})

test('keys that are written while the segment is open, and those after them, are known after a kill', async () => {
  let directory = folders.create()
  const window = { windowMs: WINDOW_MS }
  const many = Array.from({ length: 20_000 }, (_, i) => `many-${i}`)
  {
    await using log = await openLog(directory)
    for (const ids of [['before'], many, ['after']]) {
      await log.append(0, 'live', recordOf('source-a', 1_000, ids), window)
      await log.append(0, 'live', recordOf('source-b', 1_000, ids), { attempt: 'exit' })
    }
    directory = folders.copy(directory)
  }
  await using log = await openLog(directory)
  const ids = ['before', 'many-0', 'many-19999', 'after', 'new']
  const offsets = [
    await log.append(0, 'live', recordOf('source-a', 1_001, ids), window),
    await log.append(0, 'live', recordOf('source-b', 1_001, ids), { attempt: 'repeat' }),
  ]
  const found = (await log.get(0, offsets)).map((record) => [...record!.duplicates!])
  expect(found).toEqual([
    [0, 1, 2, 3],
    [0, 1, 2, 3],
  ])
})

test('a segment of an earlier release, without rules, is written on', async () => {
  let directory = folders.create()
  {
    await using log = await openLog(directory)
    await log.append(0, 'live', recordOf('source-a', 1_000, ['m']))
    directory = folders.copy(directory)
  }
  const [segment] = readdirSync(directory).filter((name) => name.endsWith('.db'))
  const database = new DatabaseSync(join(directory, segment!))
  database.exec('PRAGMA wal_autocheckpoint = 0; ALTER TABLE live DROP COLUMN rule; ALTER TABLE import DROP COLUMN rule')
  const killed = folders.copy(directory)
  database.close()
  await using log = await openLog(killed)
  const send = () => log.append(0, 'live', recordOf('source-a', 1_000, ['m']), { windowMs: WINDOW_MS })
  const records = await log.get(0, [0, await send(), await send()])
  expect(records.map((record) => record?.duplicates)).toEqual([undefined, undefined, new Set([0])])
})

test('the log keeps what a restart needs for the longest window, however short its retention is', async () => {
  const directory = folders.create()
  const clock = new ManualClock(Date.parse('2026-03-04T09:00:00.000Z'))
  const windowMs = MAX_DEDUP_WINDOW_MS
  const send = (log: SqliteEventLog) => log.append(0, 'live', recordOf('source-a', clock.now(), ['m']), { windowMs })
  {
    await using log = await openLog(directory, { clock })
    await send(log)
  }
  {
    await using log = await openLog(directory, { clock, hasDedup: true })
    await log.append(0, 'live', recordOf('source-b', clock.now(), ['n']))
    await log.retain(0, 2, 3_600_000)
    await clock.advance(20 * 3_600_000)
    await log.retain(0, 2, 3_600_000)
  }
  await using log = await openLog(directory, { clock, hasDedup: true })
  const offset = await send(log)
  expect((await log.get(0, [offset]))[0]?.duplicates).toEqual(new Set([0]))
})

/** What a sender that repeats makes of its batches: [attempt, messageIds, indexes of the duplicates]. */
type Sent = readonly [BatchAttempt | undefined, readonly string[], readonly number[] | undefined]

async function expectSent(log: SqliteEventLog, acceptedAt: number, sent: readonly Sent[]): Promise<void> {
  const appended = sent.map(([attempt, messageIds]) =>
    log.append(0, 'live', recordOf('source-a', acceptedAt, messageIds), attempt && { attempt }),
  )
  const records = await log.get(0, await Promise.all(appended))
  const found = records.map((record) => record?.duplicates && [...record.duplicates])
  expect(found).toEqual(sent.map(([, , duplicates]) => duplicates))
}

test('a repeat is stored once, however its first attempt came; what is not marked is not remembered', async () => {
  await using log = await openLog(folders.create())
  await expectSent(log, 1_000, [
    [undefined, ['a'], undefined],
    ['exit', ['b', 'c'], undefined],
    ['first', ['d'], undefined],
    // In the same commit, and in another one.
    ['repeat', ['a', 'b', 'd', 'e', 'e'], [1, 2, 4]],
  ])
  await expectSent(log, 2_000, [
    ['repeat', ['a', 'c', 'e', 'f'], [0, 1, 2]],
    [undefined, ['f'], undefined],
  ])
})

test('a first attempt that comes later than its repeat is the duplicate', async () => {
  await using log = await openLog(folders.create())
  await expectSent(log, 1_000, [['repeat', ['a', 'b'], undefined]])
  await expectSent(log, 30_000, [
    ['exit', ['a'], [0]],
    ['first', ['b', 'c'], [0]],
  ])
})

test('what attempts brought is known for a day, after restarts and kills, and when the log gave their segments up', async () => {
  let directory = folders.create()
  const clock = new ManualClock(Date.parse('2026-03-04T09:00:00.000Z'))
  const at = clock.now()
  {
    await using log = await openLog(directory, { clock })
    await expectSent(log, at, [
      ['exit', ['a', 'b'], undefined],
      ['first', ['c'], undefined],
    ])
    directory = folders.copy(directory)
  }
  for (let run = 0; run < 3; run++) {
    await using log = await openLog(directory, { clock })
    if (run === 1) await log.append(0, 'live', recordOf('source-b', clock.now(), ['other']))
    // The segments of the runs before are closed, and leave.
    await log.retain(0, log.end(0), 0)
    if (run > 0) expect(await log.get(0, [0])).toEqual([undefined])
    await expectSent(log, clock.now(), [['repeat', ['a', 'b', 'c', `run-${run}`], [0, 1, 2]]])
    await clock.advance(60_000)
  }
  await using log = await openLog(directory, { clock })
  await expectSent(log, at + MAX_DEDUP_WINDOW_MS, [['repeat', ['a', 'c', 'run-2'], [2]]])
})

test('a log that is too large deletes what a window needs: until a restart its ids are known', async () => {
  const directory = folders.create()
  const send = (log: SqliteEventLog) =>
    log.append(0, 'live', recordOf('source-a', 1_000, ['a']), { windowMs: MAX_DEDUP_WINDOW_MS })
  {
    await using log = await openLog(directory, { hasDedup: true })
    await send(log)
  }
  {
    await using log = await openLog(directory, { hasDedup: true })
    await log.retain(0, 1, 0)
    expect(await log.oldest(0)).toBe(undefined)
    const offset = await send(log)
    expect((await log.get(0, [offset]))[0]!.duplicates).toEqual(new Set([0]))
  }
  await using log = await openLog(directory, { hasDedup: true })
  const offset = await send(log)
  expect((await log.get(0, [offset]))[0]!.duplicates).toBe(undefined)
})

test('a source with a window decides by it alone', async () => {
  await using log = await openLog(folders.create())
  const send = (dedup: Dedup) => log.append(0, 'live', recordOf('source-a', 1_000, ['a']), dedup)
  const offsets = [await send({ windowMs: WINDOW_MS }), await send({ windowMs: WINDOW_MS })]
  const [first, second] = await log.get(0, offsets)
  expect([first?.duplicates, second?.duplicates]).toEqual([undefined, new Set([0])])
})

test('exit batches are remembered however many other first attempts there are', () => {
  const attempts = new Attempts((_kind, keepMs) => new DedupWindow(keepMs, 1_000))
  const keys = (from: number, count: number) => {
    const all = Buffer.alloc(count * 8)
    for (let i = 0; i < count; i++) all.writeUInt32LE(from + i, i * 8)
    return all
  }
  attempts.add({ first: 0, kind: 'exit', acceptedAt: 1, keys: keys(0, 500) })
  attempts.add({ first: 1, kind: 'first', acceptedAt: 2, keys: keys(500, 5_000) })
  expect(attempts.size).toBe(1_500)
  expect([attempts.acceptedAt(0, 0), attempts.acceptedAt(500, 0), attempts.acceptedAt(5_499, 0)]).toEqual([
    1,
    undefined,
    2,
  ])
})
