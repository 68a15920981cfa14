import { DestinationCatalog } from '@millrace/destination-catalog'
import { DestinationRegistry } from '@millrace/destinations'
import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { catalogTypes } from './catalog-types.ts'

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
