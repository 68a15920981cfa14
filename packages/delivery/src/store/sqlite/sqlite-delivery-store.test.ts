import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ManualClock } from '@millrace/std'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { LaneEvent } from '../../lane/queue/lane-event.ts'
import { durationPercentiles } from '../../pace/duration-counts.ts'
import { describeDeliveryStore } from '../conformance.ts'
import { deadLetterId, rowOfDeadLetterId } from '../outcomes/dead-letter-id.ts'
import { FILTER_REASONS, type PlainOutcome, readEntry, writeEntry } from '../outcomes/outcome-block.ts'
import { migrate } from './schema.ts'
import { SqliteDeliveryStore } from './sqlite-delivery-store.ts'

const NOW = Date.parse('2026-03-04T09:00:00.000Z')
let folder: string
let file: string
let clock: ManualClock

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'millrace-delivery-'))
  file = path.join(folder, 'delivery.db')
  clock = new ManualClock(NOW)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const logger = { info() {}, error() {} }

describeDeliveryStore('SQLite', async () => {
  const place = mkdtempSync(path.join(tmpdir(), 'millrace-delivery-'))
  return {
    open: (clock, logger) => SqliteDeliveryStore.open({ file: path.join(place, 'delivery.db'), clock, logger }),
    [Symbol.asyncDispose]: async () => rmSync(place, { recursive: true }),
  }
})

const openStore = () => SqliteDeliveryStore.open({ file, clock, logger })

function eventAt(offset: number, index = 0): LaneEvent {
  const facts = { sourceId: 's1', acceptedAt: NOW, sizeBytes: 10, userKey: 0, anonymousKey: 0 }
  return new LaneEvent({ partition: 0, stream: 0, offset, index }, facts, undefined)
}

/** Rows of a table, read beside the store. */
function rows(sql: string): Record<string, unknown>[] {
  const db = new DatabaseSync(file)
  try {
    return db.prepare(sql).all()
  } finally {
    db.close()
  }
}

test('a database of a later version is refused and left as it is', async () => {
  await (await openStore()).close()
  const db = new DatabaseSync(file)
  db.exec('PRAGMA user_version = 99')
  db.close()
  await expect(openStore()).rejects.toMatchObject({
    code: 'NEWER_SCHEMA',
    message: expect.stringContaining('delivery.db was written by a newer version (schema 99'),
  })
  expect(rows('PRAGMA user_version')).toEqual([{ user_version: 99 }])
})

test('a database of the first version is brought to the present one with its dead letters', async () => {
  const db = new DatabaseSync(file)
  migrate(db, 1)
  db.exec(`INSERT INTO names VALUES (1, 'd1'), (2, 's1'), (3, 'answered 400');
    INSERT INTO dead_letters (destination, source, partition, offset, idx, state, stage, reason, accepted_at, dead_at,
      attempts, last_status, revision, state_at, event)
    VALUES (1, 2, 0, 7, 0, 0, 2, 3, ${NOW}, ${NOW}, 1, 400, 1, ${NOW}, '{"messageId":"m"}')`)
  db.close()
  const store = await openStore()
  const { rows: letters } = await store.deadLetters.page({ filter: { state: 'open' }, limit: 10, before: null })
  expect(letters).toMatchObject([{ destinationId: 'd1', reason: 'answered 400', endReason: null }])
  await store.close()
})

test('percentiles of an earlier version stay, to the accuracy of a bucket', async () => {
  const db = new DatabaseSync(file)
  migrate(db, 10)
  db.exec(`INSERT INTO names VALUES (1, 'd1'); INSERT INTO stats_steps VALUES (300000), (600000);
    INSERT INTO stats VALUES (2, 1, 300000, 9, 0, 0, 0, 0, 4, 61, 180, 420), (2, 1, 600000, 0, 0, 0, 0, 0, 4, NULL, NULL, NULL)`)
  db.close()
  const store = await openStore()
  const { rows } = await store.statistics.read({ from: 0, to: 900_000, subjects: [['destination', 'd1']] })
  expect(rows[0]!.map(({ counts, waiting }) => [counts[0], waiting])).toEqual([
    [9, 4],
    [0, 4],
  ])
  const [first, second] = rows[0]!.map(({ durations }) => durationPercentiles(durations))
  expect(first).toEqual({ p50: 63, p95: 187, p99: 388 })
  expect(second).toEqual({ p50: null, p95: null, p99: null })
  await store.close()
})

test('a page of dead letters looks at no more than 10,000, whatever it is asked for', async () => {
  const store = await openStore()
  const db = new DatabaseSync(file)
  db.exec(`INSERT INTO names (name) VALUES ('d1'), ('rare'), ('s1');
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000)
    INSERT INTO dead_letters (destination, source, partition, offset, idx, state, stage, reason, accepted_at, dead_at,
      attempts, last_status, revision, state_at, event)
    SELECT 1, iif(i = 1, 2, 3), 0, i, 0, iif(i > 12500, 3, 0), 2, iif(i = 1, 2, 3), ${NOW}, ${NOW} + i, 1, 400, 1, 0,
      '{"messageId":"m-' || i || '","userId":"' || iif(i = 1, 'rare', 'u') || '"}' FROM n`)
  db.close()
  const FILTERS = [
    { sourceId: 'rare' },
    { reason: 'rare' },
    { userId: 'rare' },
    { messageId: 'm-1' },
    { to: NOW + 2 },
    { state: 'open', sourceId: 'rare' },
  ]
  for (const filter of FILTERS) {
    const pages: unknown[] = []
    let before: number | null = null
    do {
      const page: { rows: unknown[]; next: number | null } = await store.deadLetters.page({
        filter,
        limit: 10,
        before,
      })
      pages.push([page.rows.length, page.next])
      before = page.next
    } while (before !== null)
    expect([filter, pages]).toEqual([
      filter,
      [
        [0, 15_001],
        [0, 5_001],
        [1, null],
      ],
    ])
  }
  // What an index answers is not looked for.
  const open = await store.deadLetters.page({
    filter: { state: 'open', destinationId: 'd1' },
    limit: 1,
    before: null,
  })
  expect([open.rows[0]?.offset, open.next]).toEqual([12_500, 12_500])
  await store.close()
})

test('a file that is no database is refused', async () => {
  writeFileSync(file, 'this is no database at all, however long it is made to be'.repeat(100))
  await expect(openStore()).rejects.toThrow('not a database')
})

test('an event delivered at once takes 20 bytes of a block, and small blocks grow', async () => {
  const store = await openStore()
  const outcomes = store.outcomesOf('d1')
  for (let offset = 0; offset < 120; offset++) {
    outcomes.delivered(eventAt(offset, offset % 3), 200 + (offset % 5), offset + 0.4, NOW + offset, 57)
    await store.flush()
  }
  const blocks = rows('SELECT length(entries) AS bytes, first_offset, last_offset, revision FROM blocks ORDER BY id')
  expect(blocks).toEqual([
    { bytes: 1_000, first_offset: 0, last_offset: 49, revision: 57 },
    { bytes: 1_000, first_offset: 50, last_offset: 99, revision: 57 },
    { bytes: 400, first_offset: 100, last_offset: 119, revision: 57 },
  ])
  outcomes.positions = () => [{ partition: 0, stream: 0, position: { offset: 120, index: 0 } }]
  outcomes.moved()
  await store.flush()
  const recorded = await store.outcomes.recorded({ partition: 0, offset: 101, index: 2, sourceId: 's1' })
  expect(recorded).toEqual([
    [
      'd1',
      {
        kind: 'plain',
        outcome: 'delivered',
        reason: null,
        replayId: null,
        status: 201,
        durationMs: 101,
        at: NOW + 101,
        revision: 57,
        versionIds: [],
      },
    ],
  ])
  expect(await store.outcomes.recorded({ partition: 0, offset: 101, index: 1, sourceId: 's1' })).toEqual([])
  await store.close()
})

test('a changed revision begins a block of its own', async () => {
  const store = await openStore()
  const outcomes = store.outcomesOf('d1')
  for (const revision of [1, 2, 1]) outcomes.delivered(eventAt(revision), 200, 1, NOW, revision)
  await store.flush()
  expect(rows('SELECT revision, length(entries) AS bytes FROM blocks ORDER BY revision')).toEqual([
    { revision: 1, bytes: 40 },
    { revision: 2, bytes: 20 },
  ])
  await store.close()
})

test('outcomes are written 20 ms after the first, or as soon as there are 1,000', async () => {
  const store = await openStore()
  const outcomes = store.outcomesOf('d1')
  const written = () => new Promise<void>((resolve) => (outcomes.onPersisted = resolve))
  let isWritten = false
  void written().then(() => (isWritten = true))
  outcomes.delivered(eventAt(1), 200, 1, NOW, 1)
  await clock.advance(19)
  await store.outcomes.positions()
  expect(isWritten).toBe(false)
  const first = written()
  await clock.advance(1)
  await first
  expect(outcomes.unwritten).toBe(0)

  const thousand = written()
  for (let offset = 2; offset < 1_002; offset++) outcomes.delivered(eventAt(offset), 200, 1, NOW, 1)
  await thousand
  expect(rows('SELECT sum(length(entries)) / 20 AS events FROM blocks')).toEqual([{ events: 1_001 }])
  await store.close()
})

test('what is written together is written whole or not at all', async () => {
  const store = await openStore()
  const outcomes = store.outcomesOf('d1')
  outcomes.positions = () => [{ partition: 0, stream: 0, position: { offset: 9, index: 0 } }]
  const db = new DatabaseSync(file)
  db.exec('BEGIN IMMEDIATE')
  outcomes.delivered(eventAt(1), 200, 1, NOW, 1)
  await clock.advance(20)
  await store.outcomes.positions()
  expect(store.trouble()).toBe('database is locked')
  expect(rows('SELECT * FROM blocks')).toEqual([])
  expect(outcomes.unwritten).toBe(1)
  db.exec('ROLLBACK')
  db.close()
  const written = new Promise<void>((resolve) => (outcomes.onPersisted = resolve))
  await clock.advance(1_000)
  await written
  expect(store.trouble()).toBe(undefined)
  expect(await store.outcomes.positions()).toEqual([
    { reader: 'd1', partition: 0, stream: 0, position: { offset: 9, index: 0 } },
  ])
  await store.close()
})

test('an entry holds what it is given', () => {
  const buffer = Buffer.alloc(40, 0xff)
  const kinds: Pick<PlainOutcome, 'outcome' | 'reason'>[] = [
    { outcome: 'delivered', reason: null },
    { outcome: 'dropped_by_transformation', reason: null },
    ...FILTER_REASONS.map((reason) => ({ outcome: 'filtered', reason }) as const),
  ]
  for (const kind of kinds) {
    const outcome = { offset: 2 ** 47, index: 65_535, ...kind, status: 599, durationMs: 0xff_ffff, at: NOW }
    writeEntry(buffer, 20, outcome)
    expect(readEntry(buffer, 20)).toEqual(outcome)
  }
  expect(buffer.subarray(0, 20).every((byte) => byte === 0xff)).toBe(true)
})

test.each(['connection rule 1', 'connection rule 65535'] as const)('an entry holds the reason %s', (reason) => {
  const buffer = Buffer.alloc(20)
  const place = { offset: 2 ** 47, index: 65_535 }
  const outcome = { ...place, outcome: 'filtered', reason, status: 0, durationMs: 0, at: NOW } as const
  writeEntry(buffer, 0, outcome)
  expect(readEntry(buffer, 0)).toEqual(outcome)
})

test('versions of the last 1,000 revisions of a destination are kept', async () => {
  const store = await openStore()
  for (const id of ['d1', 'd2']) {
    const outcomes = store.outcomesOf(id)
    for (let revision = 1; revision <= (id === 'd1' ? 1_003 : 1); revision++) outcomes.noteVersions(revision, ['v'])
  }
  await store.flush()
  await store.close()
  expect(rows('SELECT count(*) AS kept, min(revision) AS first FROM transformations GROUP BY destination')).toEqual([
    { kept: 1_000, first: 4 },
    { kept: 1, first: 1 },
  ])
})

test('the id of a dead letter leads to its row, and no made-up id does', () => {
  for (const row of [1, 77, 2 ** 40]) expect(rowOfDeadLetterId(deadLetterId(row, NOW))).toBe(row)
  expect(rowOfDeadLetterId('x')).toBe(undefined)
  expect(rowOfDeadLetterId('z'.repeat(27))).toBe(undefined)
  expect(deadLetterId(1, NOW)).not.toBe(deadLetterId(1, NOW + 1_000))
})

test('traces leave after their time, delivered ones first when there are too many, dead letters and waits never', async () => {
  const store = await openStore()
  const outcomes = store.outcomesOf('d1')
  const journey = (offset: number, outcome: 'waiting' | 'delivered', at: number) => {
    const event = eventAt(offset)
    outcomes.journey(event, {
      ...{ partition: 0, stream: 0, offset, index: 0, destinationId: 'd1', sourceId: 's1', outcome, reason: null },
      ...{ acceptedAt: NOW, sizeBytes: 10, userKey: 0, anonymousKey: 0, attempts: 1, deliveredRequests: 0 },
      ...{ firstAttemptAt: at, dueAt: null, revision: 1, at, replayId: null },
      requests: [{ method: 'POST', endpoint: 'http://x/', headers: {}, attempts: [] }],
    })
  }
  outcomes.delivered(eventAt(1), 200, 1, NOW - 10_000, 1)
  outcomes.delivered(eventAt(2), 200, 1, NOW, 2)
  journey(3, 'delivered', NOW - 10_000)
  journey(4, 'delivered', NOW)
  journey(5, 'waiting', NOW - 10_000)
  await store.flush()
  const tidy = (finalBefore: number, maxBytes: number) =>
    store.tidy({ finalBefore, logOldest: [{ partition: 0, offset: 0 }], maxBytes })
  await tidy(NOW - 5_000, 1e9)
  const kept = () => ({
    blocks: rows('SELECT first_offset FROM blocks').map((row) => row['first_offset']),
    journeys: rows('SELECT offset FROM journeys ORDER BY offset').map((row) => row['offset']),
  })
  expect(kept()).toEqual({ blocks: [2], journeys: [4, 5] })
  await tidy(0, 0)
  expect(kept()).toEqual({ blocks: [], journeys: [5] })
  // New outcomes begin new blocks.
  outcomes.delivered(eventAt(9), 200, 1, NOW, 2)
  await store.flush()
  expect(kept().blocks).toEqual([9])
  await store.close()
})

test('what open dead letters take does not count as traces, and it is told up to when traces were dropped', async () => {
  const store = await openStore()
  const outcomes = store.outcomesOf('d1')
  for (let offset = 1; offset <= 100; offset++) {
    outcomes.deadLetter(eventAt(offset), {
      ...{ partition: 0, stream: 0, offset, index: 0, destinationId: 'd1', sourceId: 's1', replayId: null },
      ...{ stage: 'delivery', reason: 'answered 400', acceptedAt: NOW, deadAt: NOW, attempts: 1, lastStatus: 400 },
      ...{ lastAnswer: null, revision: 1, requests: null, event: JSON.stringify({ padding: 'x'.repeat(20_000) }) },
    })
  }
  outcomes.delivered(eventAt(200), 200, 1, NOW, 1)
  await store.flush()
  const tidy = (maxBytes: number) => store.tidy({ finalBefore: 0, logOldest: [], maxBytes })
  await tidy(1_000_000)
  expect(rows('SELECT first_offset FROM blocks')).toHaveLength(1)
  expect(await store.outcomes.droppedUntil()).toBe(undefined)
  const bytes = 100 * Buffer.byteLength(JSON.stringify({ padding: 'x'.repeat(20_000) }))
  expect(await store.backlog.byDestination()).toEqual([
    { destinationId: 'd1', letters: 100, letterBytes: bytes, expired: 0 },
  ])
  await tidy(1)
  expect(rows('SELECT first_offset FROM blocks')).toHaveLength(0)
  expect(await store.outcomes.droppedUntil()).toBe(NOW + 1)
  expect((await store.backlog.byDestination())[0]!.letters).toBe(100)
  await store.close()
})
