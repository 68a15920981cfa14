import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { Catalog } from './catalog.ts'
import { TEST_LIMITS } from './test-limits.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')
const BATCH = 20
const BATCHES = 40

const members = Object.fromEntries(Array.from({ length: 480 }, (_, i) => [`a${i}`, 1]))
const rows: [string, (id: string) => object][] = [
  ['member names of 30 KB', (id) => ({ [id + 'k'.repeat(30_000)]: 1 })],
  ['shapes of 480 equal keys and one more', (id) => ({ ...members, [`z${id}`]: 1 })],
]

test.each(rows)('%s, other ones in each event, stay out of memory', (_name, propertiesOf) => {
  const limits = { ...TEST_LIMITS, versionsPerModel: 1, samples: 0 }
  const catalog = new Catalog(':memory:', limits, { onCut() {}, onUnreadable() {} })
  observe(catalog, 0, propertiesOf)
  const before = usedMb()
  for (let offset = 1; offset <= BATCHES; offset++) observe(catalog, offset, propertiesOf)
  // Of 800 events: more than 20 MB if each kept its names, or the paths of its keys.
  expect(usedMb() - before).toBeLessThan(10)
  catalog.close()
})

function observe(catalog: Catalog, offset: number, propertiesOf: (id: string) => object): void {
  const ids = Array.from({ length: BATCH }, (_, i) => `${offset}.${i}.`)
  const batch = ids.map((id) => ({ type: 'track', event: 'E', properties: propertiesOf(id) }))
  const header = {
    sourceId: 'source',
    route: 'batch' as const,
    acceptedAt: offset,
    clientAddress: '::1',
    seed: new Uint8Array(16).fill(offset),
    rules: 1,
    policySet: 0,
    messageHashes: new Uint8Array(8 * BATCH),
  }
  catalog.observe('live', [{ header, body: Buffer.from(JSON.stringify({ batch })), offset }], offset + 1)
  catalog.shrink()
}

function usedMb(): number {
  // The engine keeps the hidden classes of parsed objects, with their names, over a few collections.
  for (let i = 0; i < 5; i++) collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 2 ** 20
}
