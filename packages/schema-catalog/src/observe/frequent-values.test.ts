import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MergedValues } from '../read/written-values.ts'
import { ValueTable } from './value-table.ts'

/* contracts/schema-catalog.md §7 [D324]: exact to n distinct values, within 1/n beyond, also of versions added up. */

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
process.stdout.write(`SEED=${SEED}\n`)
const HASH_SEED = { a: 1, b: 2 }
const CAPACITY = 256
const PER = 100

/** Streams that are kind and unkind to counters: uniform, skewed, few heavy ones among values that never come again. */
const stream = fc
  .record({
    kind: fc.constantFrom('few', 'uniform', 'skewed', 'heavy among unique', 'heavy, then unique', 'round robin'),
    length: fc.integer({ min: 1, max: 6_000 }),
    seed: fc.integer(),
  })
  .map(({ kind, length, seed }) => Array.from({ length }, (_, i) => valueAt(kind, i, length, noise(seed, i))))

function valueAt(kind: string, i: number, total: number, random: number): string {
  switch (kind) {
    case 'few':
      return `v${Math.floor(random * 200)}`
    case 'uniform':
      return `v${Math.floor(random * 1_000)}`
    case 'skewed':
      return `v${Math.floor(1_000 * random ** 6)}`
    case 'heavy among unique':
      return i % 3 === 0 ? `v${i % 7}` : `unique ${i}`
    case 'heavy, then unique':
      return i < total / 2 ? `v${i % 40}` : `unique ${i}`
    default:
      return `v${i % 257}`
  }
}

test('a version lists every frequent value, and no frequency is too high or out of its bound', () => {
  fc.assert(
    fc.property(stream, (values) => {
      check([values], CAPACITY)
    }),
    { seed: SEED, numRuns: 60 },
  )
})

test('so do several versions added up, written and read in between', () => {
  fc.assert(
    fc.property(fc.array(stream, { minLength: 1, maxLength: 4 }), (parts) => {
      check(parts, CAPACITY)
    }),
    { seed: SEED, numRuns: 25 },
  )
})

test('a table of many keys keeps its bound, and each key at least 200 counters', () => {
  const table = new ValueTable(CAPACITY, 1_000)
  const keys = 4
  for (let i = 0; i < 3_000; i++) {
    for (let key = 0; key < keys; key++) {
      table.observe(key, key === 0 ? `v${i % 5}` : `v${i % 240}`, HASH_SEED, i + 1, PER, true)
    }
    if (table.isOverBound) table.reduce()
  }
  const tight = new ValueTable(CAPACITY, 450)
  for (let i = 0; i < 240; i++) {
    for (const key of [0, 1]) tight.observe(key, `v${i}`, HASH_SEED, i + 1, PER, true)
  }
  expect(tight.isOverBound).toBe(true)
  expect(tight.reduce()).toBe(1)
  expect([tight.key(0).used, tight.key(1).used].sort()).toEqual([0, 240])
  expect(table.budget.used).toBeLessThanOrEqual(1_000)
})

test('a table that is read from what was written weighs and writes the same, whichever of its keys are counted on', () => {
  const perKey = (count: number) => Array.from({ length: count }, (_, i) => `value ${i}`)
  const table = new ValueTable(CAPACITY, 1_000)
  for (const [key, count] of [250, 1, 0, 40].entries()) {
    table.key(key)
    for (const [i, value] of perKey(count).entries()) table.observe(key, value, HASH_SEED, i + 1, PER, true)
  }
  const observations = (key: number) => [250, 1, 0, 40][key]!
  const written = table.write(observations, PER)
  const read = ValueTable.read(written, CAPACITY, 1_000)
  expect(read.budget).toEqual(table.budget)
  expect(read.write(observations, PER)).toEqual(written)
  for (const each of [table, read]) each.observe(3, 'value 7', HASH_SEED, 41, PER, true)
  expect(read.budget).toEqual(table.budget)
  expect(read.write(observations, PER)).toEqual(table.write(observations, PER))
})

/** Counts each part as a version, and compares what their sum lists with the truth. */
function check(parts: readonly (readonly string[])[], capacity: number): void {
  const merged = new MergedValues()
  for (const values of parts) {
    let table = new ValueTable(capacity, 100_000)
    for (const [i, value] of values.entries()) {
      table.observe(0, value, HASH_SEED, i + 1, PER, true)
      if (i === values.length >> 1)
        table = ValueTable.read(
          table.write(() => i + 1, PER),
          capacity,
          100_000,
        )
    }
    merged.add(
      ['key'],
      () => values.length,
      table.write(() => values.length, PER),
    )
  }
  const all = parts.flat()
  const truth = new Map<string, number>()
  for (const value of all) truth.set(value, (truth.get(value) ?? 0) + 1)
  const { key: listed = [] } = JSON.parse(merged.json(PER)) as { key?: { Value: string; Frequency: number }[] }
  const isExact = parts.every((values) => new Set(values).size <= capacity)
  for (const [value, count] of truth) {
    if (count * PER >= all.length) expect(listed.map(({ Value }) => Value)).toContain(value)
  }
  for (const { Value, Frequency } of listed) {
    const count = truth.get(Value)!
    expect(Frequency).toBeLessThanOrEqual(count)
    if (isExact) expect(Frequency).toBe(count)
    expect(Frequency).toBeGreaterThanOrEqual(count - all.length / 200)
    expect(count * (isExact ? PER : 200)).toBeGreaterThanOrEqual(all.length)
  }
}

/** 0 ≤ n < 1, the same for the same numbers. */
function noise(seed: number, i: number): number {
  let x = Math.imul(seed ^ Math.imul(i + 1, 0x9e3779b1), 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32
}
