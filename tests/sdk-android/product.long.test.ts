import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Phone } from './phone.ts'
import { type Classes, compileTests, mayBeSkipped, whatIsMissing } from './toolchain.ts'

/*
 * From a call in the page to the webhook: the bundled TypeScript, cordova.exec, the Java engine, HTTP, the whole product. What
 * stands between them on a phone, Cordova's own message queue and a WebView, is lines between two processes here.
 */

const PATIENT_MS = 600_000
const missing = await whatIsMissing()
if (missing) process.stderr.write(`SKIPPED Android app against the product: ${missing}\n`)

describe.skipIf(missing && mayBeSkipped)('an Android app and the product', { timeout: PATIENT_MS }, () => {
  const temporary = mkdtempSync(path.join(os.tmpdir(), 'millrace-sdk-phone-'))
  const root = path.join(import.meta.dirname, '../..')
  let classes: Classes
  let env: DevEnv

  beforeAll(async () => {
    if (missing) throw new Error(missing)
    await promisify(execFile)(process.execPath, [path.join(root, 'scripts/build-sdk.ts')])
    classes = await compileTests(path.join(temporary, 'classes'))
    env = await DevEnv.open()
  }, PATIENT_MS)

  afterAll(async () => {
    await env?.[Symbol.asyncDispose]()
    rmSync(temporary, { recursive: true, force: true })
  }, PATIENT_MS)

  test('events of the page and of the lifecycle arrive, over a restart of the app, and opt-out holds', async () => {
    const folder = path.join(temporary, 'phone')
    const { source } = await env.webhook()
    const settings = { dataPlaneUrl: env.url, sleepTimeout: 3_600, flushQueueSize: 1_000 }
    let anonymousId: unknown
    {
      await using phone = await Phone.start(classes, folder)
      const { ServiceClient } = phone
      expect(await ServiceClient.initialize!(source.writeKey, settings)).toEqual({
        storage: 'sqlite',
        tracking: 'enabled',
        warnings: ['INSECURE_URL'],
      })
      expect(await ServiceClient.identify!('u-42', { plan: 'pro' }, { externalIds: { crmId: 7 } })).toMatchObject({
        status: 'stored',
      })
      await ServiceClient.track!('Order Completed', { total: 39.9, note: 'Grüße 👋' })
      // Nobody calls flush: leaving sends, with the event that native code makes of the tail.
      phone.leave()
      const events = (await env.sink.waitFor(5)).map(({ json }) => json)
      expect(events.map(({ type, event }) => event ?? type)).toEqual([
        'Application Installed',
        'Application Opened',
        'identify',
        'Order Completed',
        'Application Backgrounded',
      ])
      expect(events[3]).toMatchObject({
        channel: 'mobile',
        userId: 'u-42',
        properties: { total: 39.9, note: 'Grüße 👋' },
        context: {
          externalId: [{ type: 'crmId', id: 7 }],
          os: { name: 'Android' },
          device: { type: 'Android' },
          library: { name: 'service-sdk-cordova' },
        },
      })
      anonymousId = events[3]!.anonymousId
      // Comes after the drain that leaving began, so that what follows is for the next process.
      await ServiceClient.flush!()
      await ServiceClient.track!('Before the end')
    }

    env.sink.clear()
    await using phone = await Phone.start(classes, folder)
    const { ServiceClient } = phone
    await ServiceClient.initialize!(source.writeKey, settings)
    expect(await ServiceClient.flush!()).toMatchObject({ ok: true, remaining: 0 })
    const events = (await env.sink.waitFor(2)).map(({ json }) => json)
    expect(events.map(({ event }) => event)).toEqual(['Before the end', 'Application Opened'])
    expect(events.map((event) => event.anonymousId)).toEqual([anonymousId, anonymousId])
    expect(events.map((event) => event.userId)).toEqual(['u-42', 'u-42'])

    expect(await ServiceClient.optOut!(true)).toEqual({ status: 'stored' })
    expect(await ServiceClient.track!('Not wanted')).toMatchObject({ status: 'dropped', reason: 'OPTED_OUT' })
    expect(await ServiceClient.flush!()).toMatchObject({ ok: false, reason: 'OPTED_OUT' })
  })
})
