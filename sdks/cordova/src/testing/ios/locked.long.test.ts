import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ServiceClientMethods, serviceClient } from '../../core/calls/methods.ts'
import { TestClock } from '../test-clock.ts'
import { IosDevice } from './ios-device.ts'
import { compilePhone, findCompiler, mayBeSkipped } from './toolchain.ts'

/*
 * A launch after a reboot, before the phone was unlocked: by push, VoIP or location. iOS keeps guard and database closed until
 * then. The core over the C engine; contracts/cordova-sdk.md §14.4.
 */

const compiler = await findCompiler()
if (typeof compiler === 'string') process.stderr.write(`SKIPPED iOS engine, locked: ${compiler}\n`)

describe.skipIf(typeof compiler === 'string' && mayBeSkipped)('an app that starts before the first unlock', () => {
  let program: string
  let device: IosDevice
  let sent: { readonly event: string; readonly anonymousId: string; readonly userId: string }[]

  beforeAll(async () => {
    if (typeof compiler === 'string') throw new Error(compiler)
    program = await compilePhone(compiler)
  }, 180_000)
  beforeEach(() => {
    device = new IosDevice(program)
    sent = []
    device.serve = async ({ body }) => {
      if (body) sent.push(...JSON.parse(body.toString()).batch)
      return { status: 200 }
    }
  })
  afterEach(async () => {
    try {
      await device.end()
    } finally {
      await device[Symbol.asyncDispose]()
    }
  })

  /** A page that has loaded; the process of the app begins with it. */
  const page = (): ServiceClientMethods => {
    const clock = new TestClock()
    return serviceClient({
      clock,
      platform: 'ios',
      exec: () => (success, error, _service, action, args) => {
        if (action !== 'listen') return void device.act(action, args).then(success, error)
        device.page = success
        success({ t: 'hello' })
      },
      webBridge: () => {
        throw new Error('there is a native part')
      },
      nextId: randomUUID,
      guard: () => 'native',
      print: () => undefined,
      page: () => ({ language: 'de-DE', timezone: 'Europe/Berlin', userAgent: 'Test/1.0' }),
      watchRoutes: () => undefined,
    })
  }
  const ready = (client: ServiceClientMethods, configuration: object = {}) =>
    client.initialize('wk-1', { dataPlaneUrl: 'https://events.example.com', gzip: false, ...configuration })
  /** A former run of an app that knows its user. @returns its anonymousId */
  const formerRun = async (): Promise<string> => {
    const client = page()
    await ready(client)
    await client.identify('u-1')
    await client.flush()
    return sent.splice(0)[0]!.anonymousId
  }

  test('sends nothing after an opt-out, which outlives the unlock', async () => {
    await formerRun()
    const client = page()
    await ready(client)
    await client.optOut(true)
    await device.kill()
    const guard = readFileSync(device.guard, 'utf8')

    device.lock()
    const locked = page()
    expect(await ready(locked)).toMatchObject({ tracking: 'awaiting-consent' })
    expect(await locked.track('Held')).toEqual({ status: 'deferred' })
    expect(await locked.flush()).toMatchObject({ ok: false, sent: 0 })
    await device.unlock()
    expect(await locked.track('Dropped')).toMatchObject({ status: 'dropped', reason: 'OPTED_OUT' })
    await device.stop()
    expect(readFileSync(device.guard, 'utf8')).toBe(guard)
    expect(sent).toEqual([])
  })

  test('keeps its identity: what it held in memory is stored and sent after the unlock, without a second installation', async () => {
    const anonymousId = await formerRun()
    await device.kill()
    device.lock()
    const client = page()
    await ready(client)
    await client.track('Held')
    await device.unlock()
    await expect.poll(() => device.rows()).toEqual(['Application Opened', 'Held'])
    expect(await client.track('Later')).toMatchObject({ status: 'stored' })
    expect(await client.flush()).toMatchObject({ ok: true, sent: 3 })
    expect(sent.map(({ event }) => event)).toEqual(['Application Opened', 'Held', 'Later'])
    for (const event of sent) expect(event).toMatchObject({ anonymousId, userId: 'u-1' })
  })

  test('awaits consent after the unlock too where that is required and was never given', async () => {
    await formerRun()
    await device.kill()
    device.lock()
    const client = page()
    await ready(client, { requireConsent: true })
    await device.unlock()
    expect(await client.track('Held')).toEqual({ status: 'deferred' })
    expect(sent).toEqual([])
  })
})
