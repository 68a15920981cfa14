import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DeadLetterFilter, DeadLetterGroup } from '../../dead-letter-store.ts'
import { MAX_GROUPS } from '../../letters/letter-limits.ts'
import { openDatabase } from '../database.ts'
import { VersionTable } from '../outcomes/version-table.ts'
import { migrate } from '../schema.ts'
import { StoredNames } from '../stored-names.ts'
import { DeadLetterTable } from './dead-letter-table.ts'
import { LetterGroups } from './letter-groups.ts'
import { LetterRanges } from './letter-ranges.ts'

const NOW = Date.parse('2026-03-04T09:00:00.000Z')
const COUNT = 100_000
let folder: string
let db: DatabaseSync
let groups: LetterGroups

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'millrace-delivery-'))
  db = openDatabase(path.join(folder, 'delivery.db'))
  groups = groupsOf(db)
})
afterEach(() => {
  db.close()
  rmSync(folder, { recursive: true, force: true })
})

function groupsOf(of: DatabaseSync): LetterGroups {
  const names = new StoredNames(of)
  const deadLetters = new DeadLetterTable(of, names, new VersionTable(of), new LetterRanges(of, names))
  return new LetterGroups(of, names, deadLetters)
}

/** Half of each of two destinations; every thousandth of another source and answer. */
function fill(count: number, reason = '3', event = `'{"messageId":"m-' || i || '","userId":"u-' || (i % 10) || '"}'`) {
  db.exec(`
    INSERT INTO names (name) VALUES ('d1'), ('d2'), ('answered 400'), ('s1'), ('rare');
    WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < ${reason === '3' ? 0 : count})
      INSERT INTO names (name) SELECT 'reason ' || i FROM r;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO dead_letters (destination, source, partition, offset, idx, state, stage, reason, accepted_at, dead_at,
      attempts, last_status, revision, state_at, event)
    SELECT 1 + i % 2, iif(i % 1000 = 0, 5, 4), 0, i, 0, 0, 2, ${reason}, ${NOW}, ${NOW} + i, 1,
      iif(i % 1000 = 0, 0, 400), 1, 0, ${event} FROM n`)
}

/** All calls together. */
function of(filter: DeadLetterFilter): { groups: DeadLetterGroup[]; count: number; calls: number } {
  const found: DeadLetterGroup[] = []
  for (let before: number | null = null, calls = 1; ; calls++) {
    const answer = groups.of(filter, before)
    found.push(...answer.groups)
    if (answer.next === null) return { groups: found, count: found.reduce((sum, { count }) => sum + count, 0), calls }
    before = answer.next
  }
}

test('100,000 open dead letters are counted without looking at them, largest first', () => {
  fill(COUNT)
  const group = { stage: 'delivery', reason: 'answered 400' } as const
  expect(of({}).groups).toEqual([
    { ...group, destinationId: 'd2', lastStatus: 400, count: 50_000, oldestAt: NOW + 1, newestAt: NOW + COUNT - 1 },
    { ...group, destinationId: 'd1', lastStatus: 400, count: 49_900, oldestAt: NOW + 2, newestAt: NOW + COUNT - 2 },
    { ...group, destinationId: 'd1', lastStatus: 0, count: 100, oldestAt: NOW + 1_000, newestAt: NOW + COUNT },
  ])
  // They are gone, their counts are not.
  db.exec('DROP TRIGGER letter_left_for_good; DELETE FROM dead_letters')
  const counts = (filter: DeadLetterFilter) => of(filter).groups.map(({ count }) => count)
  expect(counts({ destinationId: 'd1' })).toEqual([49_900, 100])
  expect(counts({ sourceId: 'rare' })).toEqual([100])
  expect(counts({ stage: 'delivery', reason: 'answered 400', destinationId: 'd2' })).toEqual([50_000])
  expect(counts({ stage: 'user_transformation' })).toEqual([])
  expect(counts({ reason: 'unknown' })).toEqual([])
  expect(counts({ destinationId: 'unknown' })).toEqual([])
})

test('counts follow letters that leave, come again with another reason, and go for good', () => {
  fill(1_000)
  db.exec('UPDATE dead_letters SET state = 3 WHERE id <= 400')
  const now = () => [of({}).count, of({ state: 'discarded' }).count, of({ state: 'resolved' }).count]
  expect(now()).toEqual([600, 400, 0])
  db.exec('UPDATE dead_letters SET state = 0, reason = 5 WHERE id <= 10')
  expect(now()).toEqual([610, 390, 0])
  expect(of({ reason: 'rare' }).count).toBe(10)
  db.exec('DELETE FROM dead_letters WHERE id > 500')
  expect(now()).toEqual([110, 390, 0])
  expect(of({}).count).toBe(of({ from: 0 }).count)
  db.exec('UPDATE dead_letters SET state = 2')
  expect(of({}).groups).toEqual([])
})

test('a database without counts gets them', () => {
  const file = path.join(folder, 'old.db')
  const old = new DatabaseSync(file)
  migrate(old, 6)
  old.exec(`INSERT INTO names VALUES (1, 'd1'), (2, 's1'), (3, 'answered 400');
    INSERT INTO dead_letters (destination, source, partition, offset, idx, state, stage, reason, accepted_at, dead_at,
      attempts, last_status, revision, state_at, event)
    VALUES (1, 2, 0, 7, 0, 0, 2, 3, 1, 2, 1, 400, 1, 3, '{}'), (1, 2, 0, 8, 0, 3, 2, 3, 1, 2, 1, 400, 1, 3, '{}')`)
  migrate(old)
  const { groups: found } = groupsOf(old).of({}, null)
  expect(found).toMatchObject([{ destinationId: 'd1', reason: 'answered 400', count: 1, oldestAt: 2, newestAt: 2 }])
  old.close()
})

test('what the counts do not tell is looked for 10,000 at a time', () => {
  fill(25_000)
  expect(of({ userId: 'u-3', destinationId: 'd2' })).toMatchObject({ count: 2_500, calls: 2 })
  expect(of({ from: NOW + 11, to: NOW + 21 })).toMatchObject({ count: 10, calls: 3 })
})

test('reasons that differ for each event make no endless answer', () => {
  fill(1_500, '5 + i')
  expect(of({}).groups).toHaveLength(MAX_GROUPS)
})
