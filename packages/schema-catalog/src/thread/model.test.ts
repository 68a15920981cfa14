import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject, JsonValue } from '@millrace/protocol'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { Catalog } from './catalog.ts'
import type { ListPage } from './catalog-calls.ts'
import type { CatalogRecord } from './catalog-log.ts'
import { PlainCatalog, type PlainModel, plainFrequentValues } from './plain-catalog.ts'
import { TEST_LIMITS } from './test-limits.ts'

/*
 * Any stream of events, split into records, read in any parts, committed, cut down to little memory and ended without a
 * commit at any moment: the catalog says what a plain count of the whole stream says.
 */

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const RUNS = Number(process.env['RUNS'] ?? 40)
const SOURCE = 'source'
const root = mkdtempSync(join(tmpdir(), 'millrace-catalog-model-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let files = 0

const name = fc.constantFrom(
  'a',
  'b',
  'a.b',
  '0',
  '__proto__',
  'é',
  '',
  'constructor',
  '\u{1f600}',
  'a",',
  '","string',
  '\\',
)
const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom('x', 'y', '', 'true', '1', '\ud800', 'x'.repeat(300)),
  fc.constantFrom(0, -0, 1, 1.5, 1e21, -7),
  fc.boolean(),
  fc.constant(null),
)
const { value } = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, scalar, fc.array(tie('value'), { maxLength: 3 }), tie('object')),
  object: fc
    .uniqueArray(fc.tuple(name, tie('value')), { selector: ([key]) => key, maxLength: 4 })
    .map((members) => Object.fromEntries(members) as JsonObject),
}))
/** With its members in any order: what ingest gives is filled in below, in its place. */
const event = fc
  .tuple(
    fc.constantFrom('track', 'page', 'identify'),
    fc.constantFrom('E', 'F', '', 7),
    fc.constantFrom('P', 'E'),
    fc.constantFrom('u', 'v'),
    value,
  )
  .chain((values) => {
    const members = ['type', 'event', 'name', 'userId', 'properties'].map((key, i): [string, unknown] => [
      key,
      values[i],
    ])
    const all = [...members, ['messageId', ''], ['receivedAt', ''], ['request_ip', '']]
    return fc.shuffledSubarray(all, { minLength: all.length }).map((shuffled): object => Object.fromEntries(shuffled))
  })
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('read' as const), records: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'commit' as const, records: 0 }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'crash' as const, records: 0 }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'shrink' as const, records: 0 }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'look' as const, records: 0 }) },
)

test('what is counted is what a plain count of the same events says', () => {
  process.stdout.write(`SEED=${SEED}\n`)
  fc.assert(
    fc.property(
      fc.array(fc.array(event, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 25 }),
      fc.array(step, { maxLength: 40 }),
      (batches, steps) => {
        const records = batches.map(recordOf)
        const file = join(root, `${++files}.db`)
        const open = () => new Catalog(file, TEST_LIMITS, { onCut: () => {}, onUnreadable: () => {} })
        let catalog = open()
        const shown = new Map<string, string>()
        const read = (count: number) => {
          const from = catalog.counted('live')
          const part = records.slice(from, from + count)
          catalog.observe('live', part, from + part.length)
        }
        for (const { kind, records: count } of steps) {
          if (kind === 'read') read(count)
          if (kind === 'commit') catalog.commit()
          if (kind === 'shrink') catalog.shrink(0)
          if (kind === 'look') noteIds(catalog, shown)
          if (kind === 'crash') {
            catalog.close()
            catalog = open()
          }
        }
        read(records.length)
        noteIds(catalog, shown)
        const plain = new PlainCatalog()
        for (const { plainEvents } of records) for (const each of plainEvents) plain.observe(each)
        expect(answersOf(catalog)).toEqual(plainAnswers(plain))
        catalog.close()
      },
    ),
    { seed: SEED, numRuns: RUNS },
  )
})

test('what a limit cuts is told once for each model, also when memory holds none of them', () => {
  const told: string[] = []
  const onCut = ({ identifier }: { identifier: string }) => told.push(identifier)
  const catalog = new Catalog(
    join(root, `${++files}.db`),
    { ...TEST_LIMITS, keysPerEvent: 1 },
    { onCut, onUnreadable() {} },
  )
  for (let offset = 0; offset < 6; offset++) {
    const batch = [{ type: 'track', event: offset % 2 === 0 ? 'E' : 'F', userId: 'u' }]
    catalog.observe('live', [recordOf(batch, offset)], offset + 1)
    catalog.shrink(0)
  }
  catalog.close()
  expect(told).toEqual(['E', 'F'])
})

type TestRecord = CatalogRecord & { readonly plainEvents: readonly JsonObject[] }

function recordOf(batch: readonly object[], offset: number): TestRecord {
  const events = batch.map((each, i) => ({ ...each, messageId: `${offset}.${i}`, receivedAt: AT, request_ip: '::1' }))
  const header = {
    sourceId: SOURCE,
    route: 'batch' as const,
    acceptedAt: 1_000 * offset,
    clientAddress: '::1',
    seed: new Uint8Array(16).fill(offset),
    rules: 1,
    policySet: 0,
    messageHashes: new Uint8Array(8 * events.length),
  }
  const text = JSON.stringify({ batch: events })
  // Parsed apart: the catalog reads the bytes.
  const plainEvents = (JSON.parse(text) as { batch: JsonObject[] }).batch
  return { header, body: Buffer.from(text), offset, plainEvents }
}

const AT = '2026-03-04T09:15:27.120Z'

interface ShownModel {
  readonly ID: number
  readonly EventID: string
  readonly EventType: string
  readonly EventIdentifier: string
  readonly Schema: Record<string, string>
  readonly TotalCount: number
}

function modelsOf(catalog: Catalog): ShownModel[] {
  catalog.prepareRead()
  const request = { after: undefined, limit: -1, offset: 0, source: undefined, hasExtras: false }
  return itemsOf(catalog.answers.models(request))
}

// biome-ignore lint/suspicious/noExplicitAny: JSON of whatever list
function itemsOf({ bytes }: ListPage): any[] {
  return JSON.parse(`[${Buffer.from(bytes).toString()}]`)
}

/** Whatever was shown once stays. */
function noteIds(catalog: Catalog, shown: Map<string, string>): void {
  for (const { ID, EventID, EventType, EventIdentifier } of modelsOf(catalog)) {
    const key = `${EventType}:${EventIdentifier}`
    expect(shown.get(key) ?? `${ID} ${EventID}`).toBe(`${ID} ${EventID}`)
    shown.set(key, `${ID} ${EventID}`)
  }
}

function answersOf(catalog: Catalog) {
  const { answers } = catalog
  return byName(
    modelsOf(catalog).map((model) => {
      const versions = itemsOf(answers.versions({ eventId: model.EventID, after: undefined, limit: -1, offset: 0 }))
      const metadata = JSON.parse(answers.modelMetadata(model.EventID)!)
      const missing = versions.map(({ VersionID }) => JSON.parse(answers.missingKeys(VersionID)!))
      return {
        name: `${model.EventType}:${model.EventIdentifier}`,
        total: model.TotalCount,
        schema: model.Schema,
        versions: versions.map(({ Schema, TotalCount }) => ({ schema: Schema, total: TotalCount })),
        missing,
        keyCounts: JSON.parse(answers.keyCounts(model.EventID)!),
        samples: metadata.SampledEvents.length,
        frequent: Object.fromEntries(
          Object.entries<{ Value: string; Frequency: number }[]>(metadata.FrequentValues).map(([path, values]) => [
            path,
            Object.fromEntries(values.map(({ Value, Frequency }) => [Value, Frequency])),
          ]),
        ),
      }
    }),
  )
}

function plainAnswers(plain: PlainCatalog) {
  return byName(
    [...plain.models.values()].map((model) => {
      const { name, total, schema, versions, keyCounts } = model
      return {
        name,
        total,
        schema: Object.fromEntries([...schema].map(([path, types]) => [path, types.join(',')])),
        versions,
        missing: versions.map((version) => missingOf(model, version.schema)),
        keyCounts: Object.fromEntries(keyCounts),
        samples: Math.min(5, total),
        frequent: shownValues(plainFrequentValues(model)),
      }
    }),
  )
}

function missingOf({ schema }: PlainModel, own: Record<string, string>): string[] {
  const missing = [...schema.keys()].filter((path) => !Object.hasOwn(own, path))
  return missing.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

function shownValues(byPath: Record<string, Record<string, number>>) {
  return Object.fromEntries(
    Object.entries(byPath).map(([path, counts]) => [
      path,
      Object.fromEntries(
        Object.entries(counts).map(([text, count]) => [text.length > 256 ? `${text.slice(0, 256)}…` : text, count]),
      ),
    ]),
  )
}

function byName<T extends { readonly name: string }>(models: readonly T[]): T[] {
  return models.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
