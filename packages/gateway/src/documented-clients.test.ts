import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { basic, GatewayUnderTest, KEY } from './gateway-under-test.ts'

/*
 * Requests of libraries that our registries do not have, written from the public documentation of the libraries and of the HTTP
 * API that they speak. The libraries themselves are not run: docs/clients says so.
 */

let under: GatewayUnderTest
beforeAll(async () => {
  under = await GatewayUnderTest.start()
})
afterAll(() => under[Symbol.asyncDispose]())

const event = { type: 'track', userId: 'u-88', event: 'Seat Reserved', properties: { hall: 'B' }, messageId: 'm-1' }
const sentAt = '2026-03-04T09:15:28.400Z'
const library = (name: string) => ({ context: { library: { name, version: '1.0.0' } } })
const JSON_TYPE = { 'Content-Type': 'application/json' }

test.each([
  ['Ruby', '/v1/import', basic(KEY), { batch: [{ ...event, ...library('analytics-ruby') }], sentAt }],
  ['PHP', '/v1/batch', basic(KEY), { batch: [{ ...event, ...library('analytics-php') }], sentAt }],
  ['.NET', '/v1/import', basic(KEY), { batch: [{ ...event, ...library('Analytics.NET') }], messageId: 'b-1', sentAt }],
  ['Swift', '/v1/b', basic(KEY), { batch: [{ ...event, ...library('analytics-swift') }], sentAt, writeKey: KEY }],
  ['React Native', '/v1/b', {}, { batch: [{ ...event, ...library('analytics-react-native') }], sentAt, writeKey: KEY }],
  ['Flutter', '/v1/b', basic(KEY), { batch: [{ ...event, ...library('analytics_flutter') }], sentAt, writeKey: KEY }],
  [
    'Kotlin',
    '/v1/b',
    { 'Content-Type': 'text/plain' },
    { batch: [{ ...event, ...library('analytics-kotlin') }], sentAt, writeKey: KEY },
  ],
])('a batch as the library for %s sends it is stored, plain and compressed', async (_name, path, headers, body) => {
  for (const isCompressed of [false, true]) {
    const from = under.end()
    const bytes = Buffer.from(JSON.stringify(body))
    const answer = await under.send({
      path,
      headers: { ...JSON_TYPE, ...headers, ...(isCompressed ? { 'Content-Encoding': 'gzip' } : {}) },
      body: isCompressed ? gzipSync(bytes) : bytes,
    })
    expect([answer.status, answer.text]).toEqual([200, path === '/v1/import' ? '{"success":true}' : 'OK'])
    expect(await under.found(from)).toMatchObject([{ stream: 'live', event: body.batch[0], envelopeSentAt: sentAt }])
  }
})
