import { ManualClock } from '@millrace/std'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, DISABLED_KEY, GatewayUnderTest, KEY } from './gateway-under-test.ts'

const NOW = '2026-03-04T09:15:31.900Z'
let under: GatewayUnderTest
beforeAll(async () => {
  under = await GatewayUnderTest.start({ clock: new ManualClock(Date.parse(NOW)) })
})
afterAll(() => under[Symbol.asyncDispose]())

const get = (path: string) => under.send({ method: 'GET', path, headers: {} })

function expectPicture({ headers, bytes }: Answer): void {
  expect(headers).toMatchObject({ 'content-type': 'image/gif', 'cache-control': 'no-store' })
  expect(bytes.toString('latin1', 0, 6)).toBe('GIF89a')
  // Width and height, and the end of the picture.
  expect([bytes.readUInt16LE(6), bytes.readUInt16LE(8), bytes.at(-1)]).toEqual([1, 1, 0x3b])
}

describe('the event of a pixel', () => {
  const common = {
    channel: 'web',
    integrations: { All: true },
    originalTimestamp: NOW,
    sentAt: NOW,
    receivedAt: NOW,
    request_ip: '127.0.0.1',
    messageId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
  }
  const cases: [name: string, path: string, event: object][] = [
    [
      'is its query, dotted names nested',
      '/pixel/v1/page?writeKey=K&anonymousId=a-5&name=Newsletter&properties.issue=12',
      { type: 'page', anonymousId: 'a-5', name: 'Newsletter', properties: { issue: '12' }, ...common },
    ],
    [
      'of a page without a name gets one',
      '/pixel/v1/page/?writeKey=K&userId=u&type=track',
      { type: 'page', userId: 'u', name: 'Unknown Page', ...common },
    ],
    [
      'of a track holds texts alone; signs are decoded, the last of equal names counts',
      '/pixel/v1/track?event=A%20B+C%C3%A9&writeKey=K&userId=7&n=1&n=2&properties.a.b=x&properties.a.c=&sentAt=never',
      { type: 'track', event: 'A B Cé', userId: '7', n: '2', properties: { a: { b: 'x', c: '' } }, ...common },
    ],
    [
      'keeps a messageId and hostile names as data',
      '/pixel/v1/track?writeKey=K&userId=u&messageId=m-1&constructor.prototype.x=1&a=1&a.b=2',
      {
        type: 'track',
        userId: 'u',
        constructor: { prototype: { x: '1' } },
        a: { b: '2' },
        ...common,
        messageId: 'm-1',
      },
    ],
  ]
  for (const [name, path, event] of cases) {
    test(name, async () => {
      const from = under.end()
      const answer = await get(path.replace('writeKey=K', `writeKey=${KEY}`))
      expect(answer.status).toBe(200)
      expect(answer.headers).not.toHaveProperty('x-millrace-error')
      expectPicture(answer)
      const found = await under.found(from)
      expect(found.map(({ event }) => event)).toEqual([event])
    })
  }

  test('may name a member __proto__', async () => {
    const from = under.end()
    await get(`/pixel/v1/track?writeKey=${KEY}&userId=u&__proto__.polluted=1`)
    const { event } = (await under.found(from))[0]!
    expect(Object.getOwnPropertyDescriptor(event, '__proto__')?.value).toEqual({ polluted: '1' })
    expect({}).not.toHaveProperty('polluted')
  })
})

describe('a bad pixel request', () => {
  const ids = 'Request neither has anonymousId nor userId'
  const cases: [path: string, text: string][] = [
    ['?userId=u', 'Failed to read writeKey from Query Params'],
    ['?writeKey=&userId=u', 'Failed to read writeKey from Query Params'],
    ['?writeKey=nosuchkey&userId=u', 'Invalid Write Key'],
    [`?writeKey=${DISABLED_KEY}&userId=u`, 'Source is disabled'],
    [`?writeKey=${KEY}`, ids],
    [`?writeKey=${KEY}&userId=%20%00&anonymousId=`, ids],
    // Nested names take the place of the id.
    [`?writeKey=${KEY}&userId=u&userId.x=1`, ids],
    [`?writeKey=${KEY}&userId=u&${Array(201).fill('a').join('.')}=1`, 'Event nesting exceeds 200 levels'],
  ]
  for (const [query, text] of cases) {
    test(`${query.slice(0, 60)} gets the picture, and the reason beside it and in the log`, async () => {
      const from = under.end()
      const logged = under.logged.length
      const answer = await get(`/pixel/v1/track${query}`)
      expect([answer.status, answer.headers['x-millrace-error']]).toEqual([200, text])
      expectPicture(answer)
      expect(await under.found(from)).toEqual([])
      expect(under.logged.slice(logged)).toHaveLength(1)
    })
  }

  test('200 levels are not too many', async () => {
    const answer = await get(`/pixel/v1/track?writeKey=${KEY}&userId=u&${Array(200).fill('a').join('.')}=1`)
    expect(answer.headers).not.toHaveProperty('x-millrace-error')
  })
})

test('what could not be stored gets 503 with the picture', async () => {
  const path = `/pixel/v1/page?writeKey=${KEY}&userId=u`
  under.obstacle = { retryAfterSeconds: 30 }
  const refused = await get(path)
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '30'])
  expectPicture(refused)
  under.obstacle = undefined
  under.appendsFailWith = new Error('disk full')
  const failed = await get(path)
  expect([failed.status, failed.headers['retry-after']]).toEqual([503, '1'])
  expectPicture(failed)
  under.appendsFailWith = undefined
})

test('HEAD is answered without a picture and stores nothing', async () => {
  const from = under.end()
  const answer = await under.send({ method: 'HEAD', path: `/pixel/v1/page?writeKey=${KEY}&userId=u`, headers: {} })
  expect([answer.status, answer.headers['content-type'], answer.bytes.length]).toEqual([200, 'image/gif', 0])
  expect(await under.found(from)).toEqual([])
})

describe('a pixel that carries its event as JSON', () => {
  const event = {
    writeKey: KEY,
    userId: 'u-4711',
    event: 'Opened',
    properties: { subject: 'Über?>' },
    messageId: 'm-9',
  }
  const json = JSON.stringify(event)
  const base64 = Buffer.from(json).toString('base64')
  const { writeKey: _, ...stored } = event

  test.each([
    ['base64', encodeURIComponent(base64)],
    ['base64 that was not escaped', base64],
    ['base64 without padding', base64.replace(/=+$/, '')],
    ['base64url', Buffer.from(json).toString('base64url')],
    ['plain JSON', encodeURIComponent(json)],
  ])('is stored by its path: %s', async (_how, data) => {
    for (const type of ['identify', 'track', 'page', 'screen', 'group', 'alias']) {
      const from = under.end()
      const answer = await get(`/v1/pixel/${type}?data=${data}`)
      expectPicture(answer)
      expect([answer.status, answer.headers['x-millrace-error']]).toEqual([200, undefined])
      expect(await under.found(from)).toMatchObject([{ sourceId: 'source-1', event: { ...stored, type } }])
    }
  })

  test.each([
    ['no data', '', 'Request body is nil'],
    ['no JSON', `data=${Buffer.from('{"userId":').toString('base64url')}`, 'Invalid JSON'],
    ['no key', `data=${Buffer.from('{"userId":"u"}').toString('base64url')}`, 'Failed to read writeKey from header'],
    [
      'an unknown key',
      `data=${Buffer.from('{"userId":"u","writeKey":"x"}').toString('base64url')}`,
      'Invalid Write Key',
    ],
    [
      'no ids',
      `data=${Buffer.from(`{"writeKey":"${KEY}"}`).toString('base64url')}`,
      'Request neither has anonymousId nor userId',
    ],
  ])('is answered with the picture, and the reason beside it: %s', async (_what, query, reason) => {
    const from = under.end()
    const answer = await get(`/v1/pixel/track?${query}`)
    expectPicture(answer)
    expect([answer.status, answer.headers['x-millrace-error']]).toEqual([200, reason])
    expect(await under.found(from)).toEqual([])
  })
})
