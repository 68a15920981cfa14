import type { TokenGrant } from '@millrace/protocol'
import { ManualClock } from '@millrace/std'
import { afterEach, describe, expect, test } from 'vitest'
import type { OutboundClient } from '../outbound-client.ts'
import {
  BY_DEFAULT,
  closeAll,
  essence,
  openClient,
  type Received,
  requestTo,
  startReceiver,
  startTcp,
} from '../outbound-under-test.ts'
import { OAuthTokens } from './oauth-tokens.ts'
import { type OutboundCredentials, outboundCredentials } from './outbound-credentials.ts'

afterEach(closeAll)

interface TokenReply {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body: object | string
}

/** A token endpoint and a destination that takes only tokens of the endpoint, both on loopback. */
async function setUp(reply: (n: number) => TokenReply | 'hang' = (n) => token(n)) {
  const clock = new ManualClock(0)
  const held: (() => void)[] = []
  const refused = new Set<string>()
  let asked = 0
  const endpoint = await startReceiver((_, response) => {
    const answer = reply(++asked)
    const write = ({ status = 200, headers = {}, body }: TokenReply) =>
      response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
    if (answer === 'hang') held.push(() => write(token(asked)))
    else write(answer)
  })
  const destination = await startReceiver(({ headers }, response) => {
    response.writeHead(refused.has(headers.authorization ?? '') ? 401 : 200).end()
  })
  const tokens = new OAuthTokens({ clock, maxTokens: 3 })
  const client = openClient({ tokens })
  const credentials = (change: Partial<TokenGrant> = {}) => grantOf(`${endpoint.origin}/token`, change)
  const calls = () => destination.received.map(({ headers }) => headers.authorization)
  return { clock, endpoint, destination, tokens, client, credentials, calls, refused, held }
}

function token(n: number, more: object = { expires_in: 3600 }): TokenReply {
  return { body: { access_token: `token-${n}`, token_type: 'Bearer', ...more } }
}

function grantOf(tokenUrl: string, change: Partial<TokenGrant> = {}): OutboundCredentials {
  const grant: TokenGrant = {
    tokenUrl,
    clientId: 'cinema',
    clientSecret: 's3cret',
    clientAuth: 'basic',
    fields: { grant_type: 'client_credentials' },
    ...change,
  }
  return identified(grant, undefined)
}

function identified(grant: TokenGrant, tokenOrigin: string | undefined): OutboundCredentials {
  return outboundCredentials({ grant, certificate: undefined, tokenOrigin, userAgent: 'Millrace/1.2.3' })!
}

function call(client: OutboundClient, url: string, credentials: OutboundCredentials, headers = {}) {
  return new Promise<string>((resolve) => {
    client.send({ ...requestTo(url), headers, credentials }, (result) => resolve(essence(result)))
  })
}

const form = ({ body }: Received) => Object.fromEntries(new URLSearchParams(body))

describe('the request for a token', () => {
  test('names the client in a Basic header, both parts form-encoded', async () => {
    const { endpoint, destination, client, credentials } = await setUp()
    const fields = { grant_type: 'client_credentials', scope: 'events write', audience: 'https://api.test/' }
    const given = credentials({ clientId: 'a:b', clientSecret: 'ü &', fields })
    expect(await call(client, destination.origin, given)).toBe('answer 200')
    const [asked] = endpoint.received
    expect(asked).toMatchObject({ method: 'POST', path: '/token' })
    expect(asked!.headers).toMatchObject({
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      'user-agent': 'Millrace/1.2.3',
      authorization: `Basic ${Buffer.from('a%3Ab:%C3%BC+%26').toString('base64')}`,
    })
    expect(form(asked!)).toEqual(fields)
  })

  test('names it in the body, if so configured', async () => {
    const { endpoint, destination, client, credentials } = await setUp()
    const fields = { grant_type: 'refresh_token', refresh_token: 'r-1' }
    await call(client, destination.origin, credentials({ clientAuth: 'post', fields }))
    expect(endpoint.received[0]!.headers.authorization).toBe(undefined)
    expect(form(endpoint.received[0]!)).toEqual({ ...fields, client_id: 'cinema', client_secret: 's3cret' })
  })

  test('follows no redirect, so that the secret stays at the configured address', async () => {
    const other = await startReceiver()
    const { destination, client, credentials } = await setUp(() => ({
      status: 307,
      headers: { location: other.origin },
      body: '',
    }))
    expect(await call(client, destination.origin, credentials())).toBe(
      'unauthorised 401 [EAUTH] :: authorization failed: the token endpoint answered 307, and redirects are not followed there',
    )
    expect([other.received, destination.received]).toEqual([[], []])
  })

  test('keeps to the egress rules: loopback is open only to the configured endpoint', async () => {
    const { endpoint, destination } = await setUp()
    const client = openClient({ rules: BY_DEFAULT })
    const grant = grantOf(`${endpoint.origin}/token`).grant!
    const send = (configuredOrigin: string | undefined) =>
      new Promise((resolve) => {
        const credentials = identified(grant, configuredOrigin)
        const request = { ...requestTo(destination.origin), configuredOrigin: destination.origin, credentials }
        client.send(request, (result) => resolve(result.kind))
      })
    expect(await send(undefined)).toBe('refused')
    expect(endpoint.received).toEqual([])
    expect(await send(endpoint.origin)).toBe('answer')
  })
})

describe('a token', () => {
  test('is fetched once for 100 concurrent calls, and used by the later ones', async () => {
    const { endpoint, destination, client, credentials, calls } = await setUp()
    const given = credentials()
    await Promise.all(Array.from({ length: 100 }, () => call(client, destination.origin, given)))
    await call(client, destination.origin, credentials())
    expect(endpoint.received).toHaveLength(1)
    expect(calls()).toEqual(Array(101).fill('Bearer token-1'))
  })

  test('takes the place of an authorization of the request, in any letter case', async () => {
    const { destination, client, credentials } = await setUp()
    await call(client, destination.origin, credentials(), { Authorization: 'Basic x', 'x-desk': '3' })
    expect(destination.received[0]!.headers).toMatchObject({ authorization: 'Bearer token-1', 'x-desk': '3' })
  })

  test('is replaced before it ends, while calls go on with the old one', async () => {
    const { clock, endpoint, destination, client, credentials, calls, held } = await setUp((n) =>
      n === 1 ? token(n) : 'hang',
    )
    await call(client, destination.origin, credentials())
    await clock.advance(3_539_000)
    await call(client, destination.origin, credentials())
    expect(endpoint.received).toHaveLength(1)
    await clock.advance(2_000)
    await call(client, destination.origin, credentials())
    await call(client, destination.origin, credentials())
    await expect.poll(() => held.length).toBe(1)
    expect(endpoint.received).toHaveLength(2)
    held[0]!()
    await expect
      .poll(() => call(client, destination.origin, credentials()).then(() => calls().at(-1)))
      .toBe('Bearer token-2')
    expect(calls().slice(0, 4)).toEqual(Array(4).fill('Bearer token-1'))
  })

  test('that has ended is never sent', async () => {
    const { clock, destination, client, credentials, calls } = await setUp((n) => token(n, { expires_in: '30' }))
    await call(client, destination.origin, credentials())
    await clock.advance(30_000)
    await call(client, destination.origin, credentials())
    expect(calls()).toEqual(['Bearer token-1', 'Bearer token-2'])
  })

  test('without a stated end is used until a destination refuses it', async () => {
    const { clock, destination, client, credentials, calls, refused } = await setUp((n) => token(n, {}))
    await call(client, destination.origin, credentials())
    await clock.advance(30 * 24 * 3_600_000)
    await call(client, destination.origin, credentials())
    refused.add('Bearer token-1')
    expect(await call(client, destination.origin, credentials())).toBe('answer 200')
    expect(calls()).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-1', 'Bearer token-2'])
  })

  test('that is refused is fetched once again for all calls that it failed', async () => {
    const { endpoint, destination, client, credentials, refused } = await setUp()
    await call(client, destination.origin, credentials())
    refused.add('Bearer token-1')
    const results = Array.from({ length: 20 }, () => call(client, destination.origin, credentials()))
    expect(new Set(await Promise.all(results))).toEqual(new Set(['answer 200']))
    expect(endpoint.received).toHaveLength(2)
  })

  test('that is refused twice ends the call with 401', async () => {
    const { endpoint, destination, client, credentials, refused } = await setUp()
    for (const n of [1, 2]) refused.add(`Bearer token-${n}`)
    expect(await call(client, destination.origin, credentials())).toBe('answer 401')
    expect([endpoint.received.length, destination.received.length]).toEqual([2, 2])
  })

  test('is for its own credentials: a changed secret gets another one at once', async () => {
    const { destination, client, credentials, calls } = await setUp()
    await call(client, destination.origin, credentials())
    await call(client, destination.origin, credentials({ clientSecret: 'changed' }))
    await call(client, destination.origin, credentials())
    expect(calls()).toEqual(['Bearer token-1', 'Bearer token-2', 'Bearer token-1'])
  })

  test('is shared by the clients of a process', async () => {
    const { endpoint, destination, tokens, client, credentials } = await setUp()
    await call(client, destination.origin, credentials())
    await call(openClient({ tokens }), destination.origin, credentials())
    expect(endpoint.received).toHaveLength(1)
  })

  test('goes when more are in use than are kept, the least recently used first', async () => {
    const { endpoint, destination, tokens, client, credentials } = await setUp()
    for (const clientId of ['a', 'b', 'c', 'a', 'd', 'a', 'b']) {
      await call(client, destination.origin, credentials({ clientId }))
    }
    expect(tokens.size).toBe(3)
    expect(endpoint.received).toHaveLength(5)
  })

  test('does not follow a redirect to another origin', async () => {
    const other = await startReceiver()
    const { client, credentials } = await setUp()
    const moved = await startReceiver((_, response) => response.writeHead(307, { location: other.origin }).end())
    expect(await call(client, moved.origin, credentials())).toBe('answer 200')
    expect(moved.received[0]!.headers.authorization).toBe('Bearer token-1')
    expect(other.received[0]!.headers.authorization).toBe(undefined)
  })

  test('is told to the request, which masks it', async () => {
    const { destination, client, credentials } = await setUp()
    const noted: string[] = []
    await new Promise((resolve) => {
      const noteSecret = (value: string) => noted.push(value)
      client.send({ ...requestTo(destination.origin), credentials: credentials(), noteSecret }, resolve)
    })
    expect(noted).toEqual(['token-1'])
  })
})

describe('without a token nothing is sent, and the result says why', () => {
  test.each<[string, TokenReply]>([
    [
      'unauthorised 401 [EAUTH] :: authorization failed: the token endpoint answered 401 invalid_client (Unknown client)',
      { status: 401, body: { error: 'invalid_client', error_description: 'Unknown\nclient' } },
    ],
    [
      'unauthorised 401 [EAUTH] :: authorization failed: the token endpoint answered 400 invalid_grant',
      { status: 400, body: { error: 'invalid_grant' } },
    ],
    [
      'unauthorised 401 [EAUTH] :: authorization failed: the token endpoint answered 404',
      { status: 404, body: 'Gone' },
    ],
    [
      'unauthorised 401 [EAUTH] :: authorization failed: the token endpoint answered 200 without an access token',
      { body: '<html>' },
    ],
    [
      'unauthorised 401 [EAUTH] :: authorization failed: the token endpoint answered 200 without an access token',
      { body: { access_token: 'a\r\nx: y' } },
    ],
    [
      'unauthorised 401 [EAUTH] :: authorization failed: the token endpoint issues tokens of another type than Bearer',
      { body: { access_token: 'secret-token', token_type: 'mac' } },
    ],
    ['no_answer 503 [ETOKEN] :: the token endpoint answered 503', { status: 503, body: 'down' }],
    ['no_answer 429 [ETOKEN] :: the token endpoint answered 429', { status: 429, body: {} }],
  ])('%s', async (expected, reply) => {
    const { destination, client, credentials } = await setUp(() => reply)
    expect(await call(client, destination.origin, credentials())).toBe(expected)
    expect(destination.received).toEqual([])
  })

  test('if the endpoint does not answer', async () => {
    const { destination, client } = await setUp()
    const { origin } = await startTcp((socket) => socket.resetAndDestroy())
    expect(await call(client, destination.origin, grantOf(origin))).toMatch(
      /^no_answer 500 \[ECONNRESET\] :: token endpoint: Connection reset/,
    )
  })

  test.each([200, 400])(
    'if the connection breaks in the body of its answer %i, which refuses nothing',
    async (status) => {
      const { destination, client } = await setUp()
      const { origin } = await startTcp((socket) => {
        socket.once('data', () => socket.end(`HTTP/1.1 ${status} X\r\ncontent-length: 99\r\n\r\n{"access_token":"hal`))
      })
      expect(await call(client, destination.origin, grantOf(origin))).toBe(
        `no_answer 500 [ECONNRESET] :: token endpoint: Connection reset by peer (in the body of an answer ${status})`,
      )
    },
  )

  test('all calls that wait fail together, and the next one asks again', async () => {
    const { endpoint, destination, client, credentials } = await setUp((n) =>
      n === 1 ? { status: 503, body: '' } : token(n),
    )
    const given = credentials()
    const results = await Promise.all(Array.from({ length: 10 }, () => call(client, destination.origin, given)))
    expect(new Set(results)).toEqual(new Set(['no_answer 503 [ETOKEN] :: the token endpoint answered 503']))
    expect(await call(client, destination.origin, given)).toBe('answer 200')
    expect(endpoint.received).toHaveLength(2)
  })

  test('a failed replacement is tried again after 5 s, and costs nothing while the old token is good', async () => {
    const { clock, endpoint, destination, client, credentials } = await setUp((n) =>
      n === 1 ? token(n) : { status: 503, body: '' },
    )
    await call(client, destination.origin, credentials())
    await clock.advance(3_550_000)
    for (let i = 0; i < 5; i++) expect(await call(client, destination.origin, credentials())).toBe('answer 200')
    expect(endpoint.received).toHaveLength(2)
    await clock.advance(5_000)
    expect(await call(client, destination.origin, credentials())).toBe('answer 200')
    await expect.poll(() => endpoint.received.length).toBe(3)
  })
})

describe('a call that waits for a token', () => {
  test('ends at once when it is aborted, and the others get their token', async () => {
    const { destination, client, credentials, held } = await setUp(() => 'hang')
    const given = credentials()
    const aborted = Promise.withResolvers<string>()
    const waiting = client.send({ ...requestTo(destination.origin), credentials: given }, (result) =>
      aborted.resolve(essence(result)),
    )
    const other = call(client, destination.origin, given)
    await expect.poll(() => held.length).toBe(1)
    waiting.abort()
    expect(await aborted.promise).toBe('aborted')
    held[0]!()
    expect(await other).toBe('answer 200')
    expect(destination.received).toHaveLength(1)
  })

  test('ends with its client, and another client asks in its place', async () => {
    const { endpoint, destination, tokens, client, credentials, held } = await setUp((n) =>
      n === 1 ? 'hang' : token(n),
    )
    const first = call(client, destination.origin, credentials())
    await expect.poll(() => held.length).toBe(1)
    const second = call(openClient({ tokens }), destination.origin, credentials())
    await client.close()
    expect(await first).toBe('aborted')
    expect(await second).toBe('answer 200')
    expect(endpoint.received).toHaveLength(2)
  })

  test('is aborted if its client is closed already, also while others wait for the same token', async () => {
    const { destination, tokens, client, credentials, held } = await setUp(() => 'hang')
    const other = openClient({ tokens })
    const waiting = call(other, destination.origin, credentials())
    await expect.poll(() => held.length).toBe(1)
    await client.close()
    expect(await call(client, destination.origin, credentials())).toBe('aborted')
    held[0]!()
    expect(await waiting).toBe('answer 200')
  })
})
