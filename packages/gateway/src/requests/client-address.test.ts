import { afterAll, beforeAll, expect, test } from 'vitest'
import { basic, GatewayUnderTest, KEY } from '../gateway-under-test.ts'

let under: GatewayUnderTest
beforeAll(async () => {
  under = await GatewayUnderTest.start()
})
afterAll(() => under[Symbol.asyncDispose]())

async function requestIp(forwarded: string | undefined, own?: unknown): Promise<string> {
  const from = under.end()
  const headers = { ...basic(KEY), ...(forwarded === undefined ? {} : { 'X-Forwarded-For': forwarded }) }
  const answer = await under.sendJson('/v1/track', { userId: 'u', messageId: 'm', request_ip: own }, headers)
  expect(answer.text).toBe('OK')
  const { event } = (await under.found(from))[0]!
  expect(event.messageId).toBe('m')
  return event.request_ip
}

test('request_ip is the first address of X-Forwarded-For, else the peer', async () => {
  const peer = '127.0.0.1'
  const cases: [forwarded: string | undefined, address: string][] = [
    [undefined, peer],
    ['203.0.113.9', '203.0.113.9'],
    ['203.0.113.9, 198.51.100.2', '203.0.113.9'],
    ['  203.0.113.9:443 ,x', '203.0.113.9'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['unknown, 203.0.113.9', peer],
    ['', peer],
    ['[', peer],
    ['203.0.113', peer],
    ['<script>', peer],
  ]
  for (const [forwarded, address] of cases) {
    expect([forwarded, await requestIp(forwarded)]).toEqual([forwarded, address])
  }
})

test('an address with an endless zone is none: the event can be read all the same', async () => {
  for (const length of [100, 300, 10_000]) expect(await requestIp(`fe80::1%${'a'.repeat(length)}`)).toBe('127.0.0.1')
})

test('an event that brings an address keeps it', async () => {
  expect(await requestIp('203.0.113.9', '198.51.100.7')).toBe('198.51.100.7')
  expect(await requestIp('203.0.113.9', 'anything at all')).toBe('anything at all')
  for (const own of ['', null, 7, {}]) expect(await requestIp('203.0.113.9', own)).toBe('203.0.113.9')
})
