import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Catalog } from '../thread/catalog.ts'
import type { CatalogRecord } from '../thread/catalog-log.ts'
import { TEST_LIMITS } from '../thread/test-limits.ts'
import { salvage } from './salvage.ts'

const root = mkdtempSync(join(tmpdir(), 'millrace-catalog-salvage-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const HOOKS = { onCut: () => {}, onUnreadable: () => {} }
const source = { id: 'deleted', writeKey: 'key' }

test('a deleted source that allowed neither samples nor values keeps none after a rebuild, nor does its key get lost', () => {
  const file = join(root, 'readable.db')
  const before = new Catalog(file, TEST_LIMITS, HOOKS)
  before.configure([{ ...source, samples: 'off', hasValues: false }])
  before.observe('live', [recordOf('deleted')], 1)
  before.commit()
  before.close()
  expect(rebuilt(file, 'deleted')).toEqual({ WriteKey: 'key', SampledEvents: 0, hasValues: false })
})

test('a source whose settings cannot be read keeps neither samples nor values, unless it is configured', () => {
  const file = join(root, 'unreadable.db')
  writeFileSync(file, 'no database')
  expect(rebuilt(file, 'deleted')).toEqual({ WriteKey: '', SampledEvents: 0, hasValues: false })
  expect(rebuilt(file, 'configured')).toEqual({ WriteKey: 'configured', SampledEvents: 1, hasValues: true })
})

let files = 0

/** What the catalog says of a source after it was rebuilt from the log. */
function rebuilt(damaged: string, sourceId: string) {
  const catalog = new Catalog(join(root, `${++files}.db`), TEST_LIMITS, HOOKS)
  catalog.adopt(salvage(damaged))
  catalog.configure([{ id: 'configured', writeKey: 'configured', samples: 'full', hasValues: true }])
  catalog.observe('live', [recordOf(sourceId)], 1)
  catalog.prepareRead()
  const request = { after: undefined, limit: -1, offset: 0, source: undefined, hasExtras: false }
  const model = JSON.parse(Buffer.from(catalog.answers.models(request).bytes).toString())
  const { SampledEvents, FrequentValues } = JSON.parse(catalog.answers.modelMetadata(model.EventID)!)
  catalog.close()
  const counts = { SampledEvents: SampledEvents.length, hasValues: 'properties.mail' in FrequentValues }
  return { WriteKey: model.WriteKey, ...counts }
}

function recordOf(sourceId: string): CatalogRecord {
  const header = {
    sourceId,
    route: 'batch' as const,
    acceptedAt: 1,
    clientAddress: '::1',
    seed: new Uint8Array(16),
    rules: 1,
    policySet: 0,
    messageHashes: new Uint8Array(8),
  }
  const batch = [{ type: 'track', event: 'E', properties: { mail: 'SECRET' } }]
  return { header, body: Buffer.from(JSON.stringify({ batch })), offset: 0 }
}
