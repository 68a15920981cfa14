import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { Catalog } from './catalog.ts'
import type { CatalogRecord } from './catalog-log.ts'
import { TEST_LIMITS } from './test-limits.ts'

const root = mkdtempSync(join(tmpdir(), 'millrace-catalog-renewal-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const HOOKS = { onCut: () => {}, onUnreadable: () => {} }
let file = ''
let offset = 0
beforeEach(() => {
  file = join(root, `${++offset}.db`)
})

test('values that an earlier version may have counted under the wrong key are dropped once, and counted anew', () => {
  const first = new Catalog(file, TEST_LIMITS, HOOKS)
  observe(first, 'before')
  first.commit()
  first.close()
  change("DELETE FROM numbers WHERE name = 'form'")

  const second = new Catalog(file, TEST_LIMITS, HOOKS)
  expect(metadata(second)).toMatchObject({ TotalCount: 1, FrequentValues: {} })
  observe(second, 'after')
  second.commit()
  second.close()

  const third = new Catalog(file, TEST_LIMITS, HOOKS)
  expect(metadata(third)).toMatchObject({
    TotalCount: 2,
    FrequentValues: { 'properties.hall': [{ Value: 'after', Frequency: 1 }] },
  })
  third.close()
})

test.each([0, 2])('with a limit of %d samples instead of 5 no others are shown or kept', (samples) => {
  const first = new Catalog(file, TEST_LIMITS, HOOKS)
  observe(first, 'SECRET1', 'SECRET2', 'SECRET3', 'SECRET4', 'SECRET5')
  first.commit()
  expect(metadata(first).SampledEvents).toHaveLength(5)
  first.close()

  const second = new Catalog(file, { ...TEST_LIMITS, samples }, HOOKS)
  expect(metadata(second).SampledEvents).toHaveLength(samples)
  expect(rows('samples')).toBe(2 * samples)
  // Those of the model and of its version.
  const kept = new Set<string>(sampledEvents().map((event) => JSON.parse(event).properties.hall))
  second.close()
  const left = readFileSync(file, 'latin1').match(/"hall":"SECRET\d"/g) ?? []
  expect(new Set(left)).toEqual(new Set([...kept].map((hall) => `"hall":"${hall}"`)))

  const third = new Catalog(file, { ...TEST_LIMITS, samples: 3 }, HOOKS)
  observe(third, 'x', 'y', 'z')
  expect(metadata(third).SampledEvents).toHaveLength(3)
  third.close()
})

test('a file with more samples is shown with the limit of the process that answers', () => {
  const first = new Catalog(file, TEST_LIMITS, HOOKS)
  observe(first, 'a', 'b', 'c')
  first.commit()
  first.close()
  const catalog = new Catalog(file, { ...TEST_LIMITS, samples: 1 }, HOOKS, { recordsChanges: true, isScratch: true })
  expect([catalog.isOutdated, metadata(catalog).SampledEvents.length]).toEqual([true, 1])
  catalog.close()
})

test('what records its changes is renewed as a whole, when it is told to', () => {
  const first = new Catalog(file, TEST_LIMITS, HOOKS)
  observe(first, 'before')
  first.commit()
  first.close()
  change("DELETE FROM numbers WHERE name = 'form'")

  const catalog = new Catalog(file, TEST_LIMITS, HOOKS, { recordsChanges: true, isScratch: true })
  expect([catalog.isOutdated, rows('version_values')]).toEqual([true, 1])
  catalog.renew()
  expect([catalog.isOutdated, rows('version_values')]).toEqual([false, 0])
  observe(catalog, 'after')
  expect(catalog.changes(1).length).toBeGreaterThan(0)
  catalog.close()
})

function observe(catalog: Catalog, ...halls: readonly string[]): void {
  const batch = halls.map((hall) => ({ type: 'track', event: 'E', properties: { hall } }))
  const header = {
    sourceId: 'source',
    route: 'batch' as const,
    acceptedAt: ++offset,
    clientAddress: '::1',
    seed: new Uint8Array(16).fill(offset),
    rules: 1,
    policySet: 0,
    messageHashes: new Uint8Array(8 * batch.length),
  }
  const record: CatalogRecord = { header, body: Buffer.from(JSON.stringify({ batch })), offset }
  catalog.observe('live', [record], offset + 1)
}

function metadata(catalog: Catalog) {
  catalog.prepareRead()
  using db = new DatabaseSync(file, { readOnly: true })
  const { event_id: eventId } = db.prepare('SELECT event_id FROM models').get() as { event_id: string }
  return JSON.parse(catalog.answers.modelMetadata(eventId)!)
}

function change(sql: string): void {
  using db = new DatabaseSync(file)
  db.exec(sql)
}

function sampledEvents(): string[] {
  using db = new DatabaseSync(file, { readOnly: true })
  return db
    .prepare('SELECT event FROM samples')
    .all()
    .map(({ event }) => event as string)
}

function rows(table: string): number {
  using db = new DatabaseSync(file, { readOnly: true })
  return (db.prepare(`SELECT count(*) AS rows FROM ${table}`).get() as { rows: number }).rows
}
