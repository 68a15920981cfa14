import { expect, test } from 'vitest'
import { DestinationRegistry } from './registry.ts'
import { TypesOnDemand } from './types-on-demand.ts'

test('every registered type is found by its name, and is the same object each time', async () => {
  const registry = await DestinationRegistry.load()
  const types = new TypesOnDemand()
  for (const name of registry.names()) {
    const found = types.find(name)
    expect(found?.definition.name).toBe(name)
    expect(types.find(name)).toBe(found)
  }
})

test.each(['NO_SUCH_TYPE', 'webhook', '../WEBHOOK', 'CATALOG_LOOPS', ''])('%j is no type', (name) => {
  expect(new TypesOnDemand().find(name)).toBeUndefined()
})
