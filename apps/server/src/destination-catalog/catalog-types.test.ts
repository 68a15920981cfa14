import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DestinationCatalog } from '@millrace/destination-catalog'
import { DestinationRegistry } from '@millrace/destinations'
import { ManualClock, systemClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { catalogTypes } from './catalog-types.ts'
import { VerifiedTypes } from './verified-types.ts'

const LOGGER = { debug: () => {}, warn: () => {} }
const EVENT = { type: 'track', event: 'Seat Reserved', userId: 'u' } as never
const RUN = { destinationId: 'd', config: {}, userAgent: 'Millrace/0.0.0', isUserAgentAdded: false }

test('switched off, no entry is listed or can be saved, and events of its destinations wait', async () => {
  const catalog = new DestinationCatalog({ clock: new ManualClock(0), logger: LOGGER })
  const trouble = 'Destination catalog is switched off'
  const registry = new DestinationRegistry([], { more: catalogTypes(catalog, trouble) })
  expect(registry.all()).toEqual([])
  const module = registry.find('CATALOG_LOOPS')!
  expect(registry.faultsIn(module, { apiKey: 'key-of-loops' })).toEqual([{ path: '', message: trouble }])
  const remote = module.remote!
  const units = remote.units(EVENT, {})
  expect(units).toHaveLength(1)
  const outcome = await remote.deliver(EVENT, units[0]!, RUN, () => Promise.reject(new Error('nothing is sent')), 0)
  expect(outcome).toMatchObject({ kind: 'retry', status: 503, text: trouble })
  expect(await remote.transform(EVENT, RUN)).toEqual({ error: trouble })
})

test('switched on, every entry is a type beside those by hand', () => {
  const catalog = new DestinationCatalog({ clock: new ManualClock(0), logger: LOGGER })
  const registry = new DestinationRegistry([], { more: catalogTypes(catalog, undefined) })
  expect(registry.all()).toHaveLength(108)
  expect(registry.find('CATALOG_KAFKA')).toBeUndefined()
})

test('a type is verified once a service has accepted an event of it, also after a restart', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'millrace-verified-'))
  const file = path.join(folder, 'verified-types')
  const faults: Error[] = []
  await using catalog = new DestinationCatalog({ clock: systemClock, logger: LOGGER })
  const verified = new VerifiedTypes(file, (error) => faults.push(error))
  const { find } = catalogTypes(catalog, undefined, verified)
  const { definition, remote } = find('CATALOG_LOOPS')!
  const run = { ...RUN, config: { apiKey: 'key-of-loops-0123' } }
  const [unit] = remote!.units(EVENT, run.config)
  const deliver = (status: number) =>
    remote!.deliver(EVENT, unit!, run, async () => ({ status, statusText: '', headers: {}, body: '{}' }), 0)
  await remote!.testConnection(run, async () => ({ status: 200, statusText: '', headers: {}, body: '{}' }))
  await deliver(400)
  expect(definition.options['verified']).toBe(false)
  await deliver(200)
  await deliver(200)
  expect(JSON.parse(JSON.stringify(definition.options)).verified).toBe(true)
  expect(readFileSync(file, 'utf8')).toBe('CATALOG_LOOPS\n')
  const later = catalogTypes(catalog, undefined, new VerifiedTypes(file, (error) => faults.push(error)))
  expect(later.find('CATALOG_LOOPS')!.definition.options['verified']).toBe(true)
  expect(later.find('CATALOG_JUNE')!.definition.options['verified']).toBe(false)
  expect(faults).toEqual([])
  rmSync(folder, { recursive: true })
})

test('where the file cannot be written, the fault is told and the type counts as verified until the next start', () => {
  const faults: Error[] = []
  const verified = new VerifiedTypes('/nowhere/verified-types', (error) => faults.push(error))
  verified.note('CATALOG_LOOPS')
  expect([verified.has('CATALOG_LOOPS'), faults.length]).toEqual([true, 1])
})
