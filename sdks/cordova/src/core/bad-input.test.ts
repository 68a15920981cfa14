import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TestApp } from '../testing/test-app.ts'
import type { ServiceClientMethods } from './calls/methods.ts'

/* contracts/cordova-sdk.md §2.1, §22, §28 item 10: whatever an app passes, nothing throws, rejects or reaches the global handlers. */

const METHODS = [
  'identify',
  'track',
  'group',
  'screen',
  'alias',
  'reset',
  'optOut',
  'putAnonymousId',
  'putAdvertisingId',
  'putDeviceToken',
  'setAnonymousId',
  'setAdvertisingId',
  'flush',
  'getStatus',
] as const satisfies readonly (keyof ServiceClientMethods)[]

let app: TestApp
const raised: unknown[] = []
const listen = (reason: unknown) => void raised.push(reason)
beforeEach(async () => {
  raised.length = 0
  process.on('unhandledRejection', listen).on('uncaughtException', listen)
  app = await TestApp.open()
})
afterEach(async () => {
  // Node tells of a rejection after the microtasks of a turn.
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', listen).off('uncaughtException', listen)
  await app[Symbol.asyncDispose]()
  expect(raised).toEqual([])
})

const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
})
/** Not given to fast-check, which looks at values itself. */
const HOSTILE: readonly unknown[] = [
  new Proxy({}, { get: refuse, ownKeys: refuse, getPrototypeOf: refuse, has: refuse }),
  { toString: refuse, valueOf: refuse, [Symbol.toPrimitive]: refuse },
  { integrations: new Proxy({}, { ownKeys: refuse }) },
  Object.defineProperty({}, 'dataPlaneUrl', { enumerable: true, get: refuse }),
  Object.freeze([]),
  Symbol('s'),
  () => refuse(),
  globalThis,
]
class HostileAt {
  readonly at: number
  constructor(at: number) {
    this.at = at
  }
}
const hostile = fc.nat({ max: HOSTILE.length - 1 }).map((at) => new HostileAt(at))
const given = fc.array(fc.oneof(anything, hostile, fc.constantFrom('A', 'https://example.com')), { maxLength: 4 })
const call = fc.record({ method: fc.constantFrom(...METHODS), given })
const asGiven = (values: readonly unknown[]) =>
  values.map((value) => (value instanceof HostileAt ? HOSTILE[value.at] : value))

function refuse(): never {
  throw new Error('an object of the app that throws when it is looked at')
}

test.each([
  ['before initialize', async () => undefined],
  ['when it is ready', () => app.ready({ logLevel: 'VERBOSE' })],
  ['after opting out', async () => [await app.ready(), await app.client.optOut(true)]],
  ['while awaiting consent', () => app.ready({ requireConsent: true })],
  ['when storage has failed', async () => [await app.device.fault('open'), await app.ready()]],
])('%s every call with any arguments resolves', async (_when, prepare) => {
  await prepare()
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 5 }), async (calls) => {
      const results = calls.map(({ method, given }) =>
        (app.client[method] as (...given: readonly unknown[]) => Promise<unknown>)(...asGiven(given)),
      )
      for (const result of results) expect(result).toBeInstanceOf(Promise)
      for (const result of await Promise.all(results)) expect(result).toBeTypeOf('object')
    }),
    { numRuns: 200 },
  )
})

test('initialize with any arguments resolves or rejects with a ServiceClientError, and the next call works', async () => {
  await fc.assert(
    fc.asyncProperty(given, async (values) => {
      await app.restart()
      const initialize = app.client.initialize as (...given: readonly unknown[]) => Promise<object>
      const result = await initialize(...asGiven(values)).catch((error: Error) => error)
      if (result instanceof Error) {
        expect(result.name).toBe('ServiceClientError')
        await expect(app.ready()).resolves.toHaveProperty('storage')
      } else {
        expect(result).toHaveProperty('warnings')
      }
    }),
    { numRuns: 200 },
  )
})
