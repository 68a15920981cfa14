import { expect, test } from 'vitest'
import { CONNECTION_WRITTEN } from '../../resources/connection-schema.ts'
import { DELIVERY, DESTINATION_WRITTEN } from '../../resources/destination-schema.ts'
import { SOURCE_CATALOG, SOURCE_CONFIG, SOURCE_WRITTEN } from '../../resources/source-schema.ts'
import { TestPlane } from '../../testing/test-plane.ts'

/** What a schema calls the default of its members, by member. */
function defaultsOf({ properties }: { properties: object }): Record<string, unknown> {
  const withDefault = Object.entries<{ default?: unknown }>({ ...properties }).filter(([, each]) => 'default' in each)
  return Object.fromEntries(withDefault.map(([member, each]) => [member, each.default]))
}

test('what /openapi.json calls a default is what a resource has that leaves the member out', async () => {
  await using plane = await TestPlane.open()
  const source = await plane.source()
  expect(source).toMatchObject(defaultsOf(SOURCE_WRITTEN))
  const { withoutConsent, ...config } = defaultsOf(SOURCE_CONFIG)
  expect(withoutConsent).toBe('send')
  expect(source['config']).toEqual({ ...config, catalog: defaultsOf(SOURCE_CATALOG) })
  const destination = await plane.destination()
  expect(destination).toMatchObject(defaultsOf(DESTINATION_WRITTEN))
  const { keepAnswers, ...shown } = defaultsOf(DELIVERY)
  expect(keepAnswers).toBe('failed')
  expect(destination['delivery']).toEqual(shown)
  const connection = await plane.connection(source.id, destination.id)
  expect(connection).toMatchObject(defaultsOf(CONNECTION_WRITTEN))
  expect(Object.keys(defaultsOf(CONNECTION_WRITTEN))).toEqual(['enabled'])
})
