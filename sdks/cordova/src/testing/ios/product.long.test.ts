import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { IosDevice } from './ios-device.ts'
import { openPage } from './ios-page.ts'
import { compilePhone, findCompiler, mayBeSkipped } from './toolchain.ts'

/*
 * From a call in the page to the webhook: the bundled TypeScript, cordova.exec, the C engine, HTTP, the whole product. What stands
 * between them on a phone, the Objective-C, Cordova's message queue and a WebView, is lines between two processes here.
 */

const PATIENT_MS = 180_000
const compiler = await findCompiler()
if (typeof compiler === 'string') process.stderr.write(`SKIPPED iOS app against the product: ${compiler}\n`)

describe.skipIf(typeof compiler === 'string' && mayBeSkipped)('an iOS app and the product', () => {
  let device: IosDevice
  let env: DevEnv

  beforeAll(async () => {
    if (typeof compiler === 'string') throw new Error(compiler)
    execFileSync(process.execPath, [path.join(import.meta.dirname, '../../../../../scripts/build-sdk.ts')])
    device = new IosDevice(await compilePhone(compiler))
    env = await DevEnv.open()
  }, PATIENT_MS)
  afterAll(async () => {
    await device?.[Symbol.asyncDispose]()
    await env?.[Symbol.asyncDispose]()
  }, PATIENT_MS)

  test(
    'events of the page and of the lifecycle arrive, over kill -9 of the app, and opt-out holds',
    async () => {
      const { source } = await env.webhook()
      const settings = { dataPlaneUrl: env.url, sleepTimeout: 3_600, flushQueueSize: 1_000, requireConsent: false }
      const page = openPage(device)
      expect(await page.initialize!(source.writeKey, settings)).toEqual({
        storage: 'sqlite',
        tracking: 'enabled',
        warnings: ['INSECURE_URL'],
      })
      await page.identify!('u-42', { plan: 'pro' }, { externalIds: { crmId: 7 } })
      expect(await page.track!('Order Completed', { total: 39.9, note: 'Grüße 👋' })).toMatchObject({
        status: 'stored',
      })
      // Nobody calls flush: leaving sends, with the event that the engine makes of the tail.
      await device.stop()
      const events = (await env.sink.waitFor(5)).map(({ json }) => json)
      expect(events.map(({ type, event }) => event ?? type)).toEqual([
        'Application Installed',
        'Application Opened',
        'identify',
        'Order Completed',
        'Application Backgrounded',
      ])
      expect(events[0]).toMatchObject({ properties: { version: '3.2.0', build: '320' } })
      expect(events[3]).toMatchObject({
        channel: 'mobile',
        userId: 'u-42',
        properties: { total: 39.9, note: 'Grüße 👋' },
        context: {
          os: { name: 'iOS' },
          externalId: [{ type: 'crmId', id: 7 }],
          library: { name: 'service-sdk-cordova' },
        },
      })
      await page.track!('Before the end')
      await device.kill()

      env.sink.clear()
      const again = openPage(device)
      await again.initialize!(source.writeKey, settings)
      expect(await again.flush!()).toMatchObject({ ok: true, remaining: 0 })
      const later = (await env.sink.waitFor(2)).map(({ json }) => json)
      expect(later.map(({ event }) => event)).toEqual(['Before the end', 'Application Opened'])
      expect(later.map((event) => event.anonymousId)).toEqual([events[3]!.anonymousId, events[3]!.anonymousId])
      expect(later.map((event) => event.userId)).toEqual(['u-42', 'u-42'])

      expect(await again.optOut!(true)).toEqual({ status: 'stored' })
      expect(await again.track!('Not wanted')).toMatchObject({ status: 'dropped', reason: 'OPTED_OUT' })
      expect(await again.flush!()).toMatchObject({ ok: false, reason: 'OPTED_OUT' })
      await device.end()
    },
    PATIENT_MS,
  )
})
