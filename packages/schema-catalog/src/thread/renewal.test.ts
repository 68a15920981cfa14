import { mkdtempSync, rmSync } from 'node:fs'
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

function rows(table: string): number {
  using db = new DatabaseSync(file, { readOnly: true })
  return (db.prepare(`SELECT count(*) AS rows FROM ${table}`).get() as { rows: number }).rows
}
