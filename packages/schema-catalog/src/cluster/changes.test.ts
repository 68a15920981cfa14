import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { randomFrom } from '@millrace/std'
import { afterAll, expect, test } from 'vitest'
import { Catalog } from '../thread/catalog.ts'
import type { CatalogRecord } from '../thread/catalog-log.ts'
import { TEST_LIMITS } from '../thread/test-limits.ts'
import { CatalogFile } from './catalog-file.ts'

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const root = mkdtempSync(join(tmpdir(), 'millrace-catalog-changes-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let files = 0
const path = () => join(root, `${++files}.db`)
const HOOKS = { onCut: () => {}, onUnreadable: () => {} }
/** So low that samples, values and versions are displaced and cut. */
const LOW = { ...TEST_LIMITS, samples: 2, valuesPerKey: 4, versionsPerModel: 6, modelsPerSource: 5 }

test('a file that applies the changes is equal to the one that counts, after every commit', () => {
  process.stdout.write(`SEED=${SEED}\n`)
  const random = randomFrom(SEED)
  const counted = path()
  const catalog = new Catalog(counted, LOW, HOOKS, { recordsChanges: true, isScratch: true })
  const copy = new CatalogFile(path())
  copy.replace(undefined)
  let offset = 0
  for (let change = 1; change <= 25; change++) {
    const slices = 1 + Math.floor(random() * 4)
    for (let slice = 0; slice < slices; slice++) {
      const partition = Math.floor(random() * 3)
      const records = Array.from({ length: 1 + Math.floor(random() * 8) }, () => recordOf(offset++, random))
      catalog.observe('live', records, offset, partition)
      if (random() < 0.3) catalog.shrink(0)
    }
    const changes = catalog.changes(change)
    catalog.settle()
    expect(copy.apply(changes)).toBe(change)
    expect(tablesOf(copy.path)).toEqual(tablesOf(counted))
  }
  // A commit of nothing is a change like any other.
  copy.apply(catalog.changes(26))
  catalog.settle()
  expect(tablesOf(copy.path)).toEqual(tablesOf(counted))
  expect([0, 1, 2].map((partition) => catalog.counted('live', partition)).toSorted((a, b) => b - a)[0]).toBe(offset)
  catalog.close()
  copy.close()
})

test('what is not settled is counted again, and gives the same change', () => {
  const file = path()
  const open = () => new Catalog(file, LOW, HOOKS, { recordsChanges: true, isScratch: true })
  const records = Array.from({ length: 20 }, (_, offset) => recordOf(offset, randomFrom(offset)))
  let catalog = open()
  catalog.observe('live', records.slice(0, 10), 10, 1)
  catalog.changes(1)
  catalog.settle()
  const before = tablesOf(file)
  catalog.observe('live', records.slice(10), 20, 1)
  catalog.changes(2)
  catalog.close()
  expect(tablesOf(file)).toEqual(before)
  catalog = open()
  expect(catalog.counted('live', 1)).toBe(10)
  catalog.observe('live', records.slice(10), 20, 1)
  catalog.changes(2)
  catalog.settle()
  using db = new DatabaseSync(file, { readOnly: true })
  const events = records.flatMap(({ body }) => JSON.parse(Buffer.from(body).toString()).batch).length
  expect(db.prepare('SELECT sum(total) AS total FROM models').get()).toEqual({ total: events })
  catalog.close()
})

test('a removal leaves nothing of what it removed in a copy of the file, and the changes that follow fit the copy', () => {
  const counted = path()
  const catalog = new Catalog(counted, LOW, HOOKS, { recordsChanges: true, isScratch: true })
  const records = Array.from({ length: 60 }, (_, offset) => recordOf(offset, randomFrom(offset)))
  catalog.observe('live', records.slice(0, 30), 30)
  catalog.changes(1)
  catalog.settle()
  catalog.number(2)
  catalog.purge('source-0')
  const snapshot = path()
  catalog.copyTo(snapshot)
  const copy = new CatalogFile(path())
  expect(copy.replace(snapshot)).toEqual({ change: 2, isMigrated: false })
  expect(tablesOf(copy.path).filter((row) => row.startsWith('models ') && row.includes('source-0'))).toEqual([])
  catalog.observe('live', records.slice(30), 60)
  copy.apply(catalog.changes(3))
  catalog.settle()
  expect(tablesOf(copy.path)).toEqual(tablesOf(counted))

  catalog.number(4)
  catalog.restart()
  catalog.copyTo(snapshot)
  copy.replace(snapshot)
  catalog.observe('live', records, 60)
  copy.apply(catalog.changes(5))
  catalog.settle()
  expect(tablesOf(copy.path)).toEqual(tablesOf(counted))
  catalog.close()
  copy.close()
})

test('changes that do not follow the file are refused, and change nothing', () => {
  const catalog = new Catalog(path(), LOW, HOOKS, { recordsChanges: true, isScratch: true })
  const changes = [1, 2, 3].map((change) => {
    catalog.observe('live', [recordOf(change, randomFrom(1))], change + 1)
    const made = catalog.changes(change)
    catalog.settle()
    return made
  })
  const copy = new CatalogFile(path())
  copy.replace(undefined)
  copy.apply(changes[0]!)
  const before = tablesOf(copy.path)
  expect(() => copy.apply(changes[2]!)).toThrow('do not fit')
  expect(tablesOf(copy.path)).toEqual(before)
  catalog.close()
  copy.close()
})

function recordOf(offset: number, random: () => number): CatalogRecord {
  const events = Array.from({ length: 1 + Math.floor(random() * 4) }, () => ({
    type: 'track',
    event: `E${Math.floor(random() * 8)}`,
    properties: { [`k${Math.floor(random() * 9)}`]: Math.floor(random() * 20), note: `note ${random()}` },
  }))
  const header = {
    sourceId: `source-${Math.floor(random() * 3)}`,
    route: 'batch' as const,
    acceptedAt: 1_000 * offset,
    clientAddress: '::1',
    seed: Uint8Array.from({ length: 16 }, () => Math.floor(random() * 256)),
    rules: 1,
    policySet: 0,
    messageHashes: new Uint8Array(8 * events.length),
  }
  return { header, body: Buffer.from(JSON.stringify({ batch: events })), offset }
}

/** All rows, as of the last commit. */
function tablesOf(file: string): string[] {
  using db = new DatabaseSync(file, { readOnly: true })
  const names = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).all()
  return names.flatMap(({ name }) => {
    const rows = db
      .prepare(`SELECT * FROM ${String(name)}`)
      .all()
      .map(textOf)
    return rows.toSorted().map((row) => `${String(name)} ${row}`)
  })
}

function textOf(row: object): string {
  return JSON.stringify(row, (_, value) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value))
}
