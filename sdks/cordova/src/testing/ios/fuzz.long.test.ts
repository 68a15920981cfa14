import { randomInt } from 'node:crypto'
import { randomFrom } from '@millrace/std'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { IosDevice } from './ios-device.ts'
import { compilePhone, findCompiler, mayBeSkipped } from './toolchain.ts'

/*
 * Nonsense from the page, from the server and in the files, by a seed that is printed: whatever comes, every call is answered once,
 * the engine goes on, and the sanitizers find nothing. SEED=… repeats a run.
 */

const compiler = await findCompiler()
if (typeof compiler === 'string') process.stderr.write(`SKIPPED iOS engine, random: ${compiler}\n`)

const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31))
const ACTIONS = ['open', 'push', 'state', 'tail', 'drain', 'purge', 'config', 'advertId', 'nonsense', '']
const FAULTS = ['', '', '', 'full-once', 'full', 'io-once', 'io', 'readonly', 'busy-once', 'open']
const STATUSES = [0, 100, 200, 200, 200, 204, 301, 400, 401, 403, 404, 408, 413, 415, 422, 425, 429, 500, 503, 599, -7]
const HEADERS = [
  undefined,
  '',
  '0',
  '1',
  ' 2 ',
  '-1',
  '99999999999999999999',
  'Fri, 20 Nov 2026 09:31:01 GMT',
  'Fri, 99 Foo 0000 99:99:99 GMT',
  'é\u0000',
]
const WORDS = [
  '',
  'a',
  'enabled',
  'disabled',
  'tracking',
  'anonymousId',
  'marker',
  'source',
  'refusals',
  'plain',
  'purged',
  'body',
  'rows',
  'state',
  '{"enabled":true}',
  '{"enabled":false}',
  '[1,2,1e999]',
  '[[[[',
  '\u0000',
  '\ud800',
  '😀'.repeat(50),
]

describe.skipIf(typeof compiler === 'string' && mayBeSkipped)(`the iOS engine, seed ${seed}`, () => {
  let program: string
  let device: IosDevice
  const chance = randomFrom(seed)
  const pick = <T>(from: readonly T[]) => from[Math.floor(chance() * from.length)]!

  beforeAll(async () => {
    process.stderr.write(`the random tests of the iOS engine run with SEED=${seed}\n`)
    if (typeof compiler === 'string') throw new Error(compiler)
    program = await compilePhone(compiler)
  }, 180_000)
  beforeEach(() => {
    device = new IosDevice(program)
  })
  afterEach(() => device[Symbol.asyncDispose]())

  const nonsense = (depth = 0): unknown => {
    const kind = chance()
    if (kind < 0.35) return pick(WORDS)
    if (kind < 0.5) return pick([0, -1, 1, 30, 2 ** 31, 2 ** 53, 1e300, -0.5])
    if (kind < 0.65 || depth > 3) return pick([null, true, false])
    if (kind < 0.8) return Array.from({ length: chance() * 4 }, () => nonsense(depth + 1))
    return Object.fromEntries(Array.from({ length: chance() * 5 }, () => [pick(WORDS), nonsense(depth + 1)]))
  }
  const settings = () => ({
    writeKey: pick(['wk-1', 'wk-2', '']),
    dataPlaneUrl: pick(['http://a', 'http://b', '']),
    controlPlaneUrl: pick(['http://a', '']),
    flushQueueSize: pick([0, 1, 3, 30, 2 ** 31 - 1]),
    dbThresholdCount: pick([0, 1, 5, 1_000, 2 ** 31 - 1]),
    gzip: pick([true, false]),
    logLevel: pick([0, 5]),
    collectDeviceId: pick([true, false]),
    requireConsent: chance() < 0.1,
    sdkVersion: '1.4.0',
  })
  const sensible = (): Record<string, unknown> => ({
    open: settings(),
    push: {
      rows: Array.from({ length: chance() * 12 }, rowOf),
      state: chance() < 0.5 ? {} : { [pick(WORDS.slice(1, 11))]: pick([null, ...WORDS]) },
    },
    state: { [pick(WORDS.slice(1, 11))]: pick([null, ...WORDS]) },
    tail: pick([null, '"type":"track","event":"Left"}', '']),
    drain: { force: pick([true, false]) },
    purge: pick(['events', 'events', 'all']),
    config: pick([{}, { etag: 'x' }]),
  })
  const rowOf = () => ({ body: pick(['', '{', '{}', `{"messageId":"m","event":"${'x'.repeat(chance() * 3_000)}"}`]) })

  test('every call is answered once, with a value or a fault of the bridge, and the engine goes on', async () => {
    device.serve = async () => ({
      status: pick(STATUSES),
      body: pick(['', 'x'.repeat(4_096), '\u0000\ufffd', '{}']),
      isCut: chance() < 0.1,
      trouble: pick([undefined, 'none']),
      eventIndex: pick(HEADERS),
      retryAfter: pick(HEADERS),
      location: pick([undefined, '//', 'https://', 'https://a@', 'x', '/y']),
      etag: pick(HEADERS),
    })
    for (let run = 0; run < 4; run++) {
      await device.act('open', [settings()])
      for (let at = 0; at < 400; at++) {
        if (chance() < 0.03) await device.fault(pick(FAULTS))
        if (chance() < 0.03) await device.advance(Math.floor(chance() * 4_000_000))
        if (chance() < 0.02) await device.network(chance() < 0.7)
        if (chance() < 0.02) await device.start()
        const action = pick(ACTIONS)
        const given = chance() < 0.6 ? sensible()[action] : nonsense()
        const fault = await device.act(action, [given]).then(
          () => undefined,
          ({ code }) => code,
        )
        expect(
          [undefined, 'BAD_ARGUMENT', 'NOT_OPEN', 'UNKNOWN_ACTION'],
          `call ${at} of run ${run}: ${action}`,
        ).toContain(fault)
      }
      await device.end()
    }
    await device.reset(0)
    await device.bridge.open({
      ...settings(),
      writeKey: 'wk',
      dataPlaneUrl: 'http://a',
      flushQueueSize: 30,
      dbThresholdCount: 100,
      requireConsent: false,
    })
    device.serve = async () => ({ status: 200 })
    await device.bridge.push({ rows: [{ body: '{"messageId":"m","event":"A"}' }], state: {} })
    expect(await device.bridge.drain({ force: true })).toMatchObject({ sent: 1, outcome: 'EMPTY' })
    await device.end()
  }, 120_000)

  test('arguments that are no JSON, or cut off anywhere, are a BAD_ARGUMENT', async () => {
    await device.act('open', [settings()])
    const whole = JSON.stringify([
      { rows: [{ body: '{"é":"\\u00e9\\ud83d\\ude00"}' }], state: { a: 'b\\"', c: null }, n: -1.5e-7 },
    ])
    for (let at = 0; at < whole.length; at++) {
      await expect(device.act('push', whole.slice(0, at)), `cut at ${at}`).rejects.toMatchObject({
        code: 'BAD_ARGUMENT',
      })
    }
    const mutated = () => {
      const text = [...whole]
      for (let times = chance() * 4; times >= 0; times--)
        text[Math.floor(chance() * text.length)] = pick([...'[]{}",:\\u0019.eE+-tfn \n\u0001', ''])
      return text.join('')
    }
    for (let at = 0; at < 500; at++) {
      const fault = await device.act('push', mutated()).then(
        () => undefined,
        ({ code }) => code,
      )
      expect([undefined, 'BAD_ARGUMENT']).toContain(fault)
    }
    await expect(device.act('push', '['.repeat(100_000))).rejects.toMatchObject({ code: 'BAD_ARGUMENT' })
    await device.end()
  }, 120_000)
})
