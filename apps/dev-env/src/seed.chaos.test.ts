import { expect, test, vi } from 'vitest'
import { DevEnv } from './dev-env.ts'
import { plant, REFUSING_DESTINATIONS, type Seed, seedAnswer } from './seed.ts'

// Each starts the product, and lets it come into trouble.
vi.setConfig({ testTimeout: 120_000 })

async function planted(seed: Seed, size?: Parameters<typeof plant>[2]): Promise<DevEnv> {
  const env = await DevEnv.open()
  env.sink.answer = seedAnswer
  await plant(env, seed, size)
  return env
}

async function get(env: DevEnv, path: string) {
  return (await env.api('GET', path)).json
}

test('empty has nothing', async () => {
  await using env = await planted('empty')
  expect((await get(env, '/v2/sources')).sources).toEqual([])
  expect((await get(env, '/v2/destinations')).destinations).toEqual([])
})

test('cinema works', async () => {
  await using env = await planted('cinema')
  const { delivery } = await get(env, '/v2/delivery')
  expect(delivery.map(({ state }: { state: string }) => state)).toEqual(['ok', 'ok', 'ok'])
  expect((await get(env, '/v2/dead-letters/groups')).groups).toEqual([])
  expect(env.sink.received.some(({ json }) => json.properties?.priceCents === 1200)).toBe(true)
})

test('trouble has each kind of it', async () => {
  await using env = await planted('trouble')
  const { delivery } = await get(env, '/v2/delivery')
  const { destinations } = await get(env, '/v2/destinations')
  const stateOf = (key: string) => {
    const { id } = destinations.find((each: { key: string }) => each.key === key)
    return delivery.find(({ destinationId }: { destinationId: string }) => destinationId === id)
  }
  expect(stateOf('resting-hook').state).toBe('resting')
  expect(stateOf('locked-hook').state).toBe('unauthorised')
  expect(stateOf('refusing-hook').deadLettersOpen).toBeGreaterThan(0)
  expect(stateOf('silent-hook').pending).toBeGreaterThan(0)
  expect(destinations.find((each: { key: string }) => each.key === 'disabled-hook').enabled).toBe(false)
  const { refusals } = await get(env, '/v2/refusals')
  expect(refusals.map(({ text }: { text: string }) => text)).toEqual([
    'Source is disabled',
    'Empty batch payload',
    'Invalid Write Key',
  ])
})

test('large is as large as it is said to be', async () => {
  await using env = await planted('large', { sources: 60, destinations: 30, deadLetters: 200 })
  expect((await get(env, '/v2/sources')).paging.total).toBe(60)
  expect((await get(env, '/v2/destinations')).paging.total).toBe(30)
  const { groups } = await get(env, '/v2/dead-letters/groups')
  expect(groups).toHaveLength(REFUSING_DESTINATIONS)
  expect(groups[0]).toMatchObject({ stage: 'delivery', count: 10 })
})
