import { filledIn } from '@millrace/dashboard/client-page'
import { DevEnv, type Webhook } from '@millrace/dev-env'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { CLIENTS } from './clients.ts'
import { start } from './describe-client.ts'
import { pageOf } from './pages.ts'
import { TlsFront } from './tls-front.ts'
import { openPage } from './web-page.ts'

/* The code of docs/clients, taken out of the pages: what the dashboard's Setup shows, too. */

let env: DevEnv
let webhook: Webhook
let front: TlsFront
beforeAll(async () => {
  env = await DevEnv.open()
  front = await TlsFront.open(Number(new URL(env.url).port))
  webhook = await env.webhook({ source: await env.source({ type: 'Javascript' }) })
})
afterEach(() => env.sink.clear())
afterAll(async () => {
  await front?.[Symbol.asyncDispose]()
  await env?.[Symbol.asyncDispose]()
})

async function expectFirstEvent(type = 'track', name = 'Seat Reserved'): Promise<void> {
  const [request, ...more] = await env.sink.waitFor(1, 60_000)
  expect([request!.json.type, request!.json.event ?? request!.json.name, more.length]).toEqual([type, name, 0])
}

describe('the first event of', () => {
  for (const page of new Set(CLIENTS.map((client) => client.page))) {
    test(page, { timeout: 600_000 }, async () => {
      const { code } = await pageOf(page)
      const client = CLIENTS.find((each) => each.page === page && code.includes(importedBy(each)))!
      const program = await client.toolchain.build(
        `page-${page.replace('.md', '')}`,
        `${filledIn(code, webhook.source.writeKey, client.needsTls ? TlsFront.url : env.url)}\n${client.pageEnd ?? ''}`,
      )
      await start(program, client.needsTls ? front.javaEnvironment : {})
      await expectFirstEvent()
    })
  }

  for (const page of ['web-analytics-next.md', 'web-analytics-js.md', 'web-jitsu.md', 'web-snippet.md', 'pixel.md']) {
    test(page, async () => {
      const { code, language } = await pageOf(page)
      await using opened = await openPage(filledIn(code, webhook.source.writeKey, env.url), language)
      await (page === 'pixel.md' ? expectFirstEvent('page', 'Newsletter') : expectFirstEvent())
      expect(opened.faults).toEqual([])
    })
  }

  test('http.md', async () => {
    const { code } = await pageOf('http.md')
    await start({ command: '/bin/sh', args: ['-c', filledIn(code, webhook.source.writeKey, env.url)] }, {})
    await expectFirstEvent()
  })

  test('webhook.md', async () => {
    const hooks = await env.webhook({ source: await env.source({ type: 'Webhook' }) })
    const { code } = await pageOf('webhook.md')
    await start({ command: '/bin/sh', args: ['-c', filledIn(code, hooks.source.writeKey, env.url)] }, {})
    await expectFirstEvent('track', 'Webhook Received')
  })
})

/** What a program that uses the client imports. */
function importedBy({ name }: { readonly name: string }): string {
  const crate = name.replace(' (crate)', '')
  return IMPORTS[crate] ?? crate
}

const IMPORTS: Readonly<Record<string, string>> = {
  'segment-analytics-python': 'segment.analytics',
  'com.segment.analytics.java:analytics': 'com.segment.analytics.Analytics',
  'com.segment.analytics.kotlin:core': 'com.segment.analytics.kotlin',
}
