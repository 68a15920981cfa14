import { DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

let env: DevEnv

beforeAll(async () => {
  env = await DevEnv.open()
})
afterAll(() => env?.[Symbol.asyncDispose]())
beforeEach(() => {
  env.sink.clear()
  env.sink.answer = () => ({})
})

test('tmp', async () => {
  const definitions = await env.request('/destination-definitions')
  console.log(definitions.json.length)
  const made = await env.api('POST', '/v2/destinations', { name: 'hook', type: 'CATALOG_WEBHOOK', config: { sharedSecret: 'canary-of-the-secret', subscriptions: [{ action: 'send', trigger: 'type = "track"', base: 'default', mapping: { url: env.sink.url + '/in' } }] } })
  console.log(JSON.stringify(made.json))
  const headers = { Authorization: `Basic ${Buffer.from(`${env.token}:`).toString('base64')}` }
  const tested = await env.request(`/v0/testDestination/${made.json.id}?include=warnings`, { method: 'POST', headers, body: JSON.stringify({ message: { type: 'track', event: 'Seat', userId: 'u' }, stage: { user_transform: false, dest_transform: true, send_to_destination: true } }) })
  console.log(JSON.stringify(tested.json, null, 1), env.sink.received)
})
