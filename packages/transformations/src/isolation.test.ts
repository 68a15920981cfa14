import { afterAll, expect, test } from 'vitest'
import { closeAll, essences, open, runOf, version } from './under-test.ts'

// Promises of contracts/transformations.md §8: who can see what a version leaves behind.

const transformations = open()
afterAll(closeAll)

const spoil = version(`
  Array.prototype.spoiled = true
  Object.prototype.toJSON = function () { return { stolen: true } }
  JSON.parse = JSON.stringify = Promise.prototype.then = null
  Array.prototype[Symbol.iterator] = null
  globalThis.left = 'here'
  export const transformEvent = (event) => ({ ...event, found: globalThis.left })`)
const look = version(
  'export const transformEvent = (event) => ({ found: [globalThis.left, [].spoiled, typeof JSON.parse, {}.toJSON] })',
)
const nothing = [[{ found: [null, null, 'function', null] }]]

test('what a version changes is not seen by another version in the same sandbox', async () => {
  await transformations.run(runOf([spoil], { key: 'one' }))
  expect(essences(await transformations.run(runOf([look], { key: 'one' })))).toEqual(nothing)
  expect(essences(await transformations.run(runOf([spoil, look], { key: 'one' })))).toEqual([
    [{ found: [null, null, 'function', null] }],
  ])
})

test('nor by the same version for another destination, nor in a test run', async () => {
  const both = version(`
    export function transformEvent(event) {
      const before = [globalThis.count ?? 0, Object.prototype.mark ?? 'none']
      globalThis.count = before[0] + 1
      Object.prototype.mark = 'marked'
      return { before }
    }`)
  const run = (key: string, mode: 'live' | 'test' = 'live') => transformations.run(runOf([both], { key, mode }))
  const fresh = [[{ before: [0, 'none'] }]]
  expect(essences(await run('one'))).toEqual(fresh)
  expect(essences(await run('two'))).toEqual(fresh)
  expect(essences(await run('one', 'test'))).toEqual(fresh)
  expect(essences(await run('one', 'test'))).toEqual(fresh)
})

test('what the server parses of a spoiled result has no prototype of its making', async () => {
  const code = version(
    'export const transformEvent = () => JSON.parse(\'{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}\')',
  )
  const { results } = await transformations.run(runOf([code]))
  expect('events' in results[0]! && Object.hasOwn(results[0].events[0]!, '__proto__')).toBe(true)
  expect(({} as { polluted?: number }).polluted).toBeUndefined()
})

test('one event does not find what another has changed in its copy', async () => {
  const [event] = runOf([]).events
  const code = version('export const transformBatch = (events) => { events[0].properties.n = 1; return events }')
  const { results } = await transformations.run(
    runOf([code], { events: [event!, { ...event!, event: { ...event!.event, messageId: 'm-1' } }] }),
  )
  expect(results[1]).toMatchObject({ events: [{ properties: { n: 0 } }] })
  expect(event!.event).toMatchObject({ properties: { n: 0 } })
})
