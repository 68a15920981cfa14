import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { OAuthTokens } from '@millrace/delivery'
import type { JsonObject } from '@millrace/protocol'
import { systemClock } from '@millrace/std'
import { afterEach, expect, test } from 'vitest'
import { HOUR, MINUTE, PipelineUnderTest, SECOND } from '../testing/pipeline-under-test.ts'
import { track, tracks } from '../testing/test-events.ts'

const endings: (() => unknown)[] = []
afterEach(() => endings.splice(0).map((end) => end()))

const SECRET = 'kT2exampleSecret'
const TOKENS = ['q7RexampleTokenOne', 'q7RexampleTokenTwo']

/** A token endpoint on loopback that issues TOKENS in turn, or answers as `answer` says. */
async function startEndpoint() {
  const endpoint = { url: '', asked: 0, answer: undefined as { status: number; body: object } | undefined }
  const server = createServer((request, response) => {
    request.resume()
    const issued = { access_token: TOKENS[endpoint.asked++ % 2], token_type: 'Bearer', expires_in: 3600 }
    const { status, body } = endpoint.answer ?? { status: 200, body: issued }
    response.writeHead(status).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  endings.push(() => {
    server.closeAllConnections()
    server.close()
  })
  endpoint.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`
  return endpoint
}

async function setUp(answer: Parameters<typeof PipelineUnderTest.withSink>[0], more: JsonObject = {}) {
  const endpoint = await startEndpoint()
  const oauth = {
    authType: 'oauth2',
    oauthTokenUrl: endpoint.url,
    oauthClientId: 'millrace',
    oauthClientSecret: SECRET,
    ...more,
  }
  const client = { tokens: new OAuthTokens({ clock: systemClock }) }
  const { run, sink } = await PipelineUnderTest.withSink(answer, { client, d1: { config: oauth } })
  return { endpoint, run, sink, oauth }
}

const ofToken = (token: string | undefined) => (token === `Bearer ${TOKENS[1]}` ? 200 : 401)

test('a hundred events share one token, also in batches', async () => {
  for (const more of [{}, { batchSize: 10 }]) {
    const { endpoint, run, sink } = await setUp(200, more)
    await using _ = run
    await run.send(...tracks(100))
    for (let n = 0; n < 100; n++) expect(await run.outcome(`m-${n}`)).toBe('delivered')
    expect(endpoint.asked).toBe(1)
    expect(new Set(sink.arrivals.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${TOKENS[0]}`]))
  }
})

test('a 401 is answered with a new token at once, and is no attempt of its own', async () => {
  const { endpoint, run } = await setUp(({ headers }) => ofToken(headers.authorization))
  await using _ = run
  await run.send(track('m'))
  expect(await run.outcome('m')).toBe('delivered')
  expect(endpoint.asked).toBe(2)
})

test('a refused client makes the destination unauthorised at once; a corrected secret delivers what waits', async () => {
  const { endpoint, run, sink, oauth } = await setUp(200)
  await using _ = run
  endpoint.answer = { status: 401, body: { error: 'invalid_client', error_description: `bad ${SECRET}` } }
  await run.send(track('m'), track('n', 'v'))
  expect((await run.state()).state).toBe('unauthorised')
  const { requests } = (await run.trace('m'))['d1']!
  expect(requests[0]!.attempts.at(-1)).toMatchObject({
    status: 401,
    class: 'retry',
    text: '[EAUTH] :: authorization failed: the token endpoint answered 401 invalid_client (bad ********)',
  })
  await run.advance(4 * HOUR)
  expect([await run.outcome('m'), sink.arrivals]).toEqual(['retrying', []])
  endpoint.answer = undefined
  await run.change('d1', { config: { webhookUrl: sink.url, ...oauth, oauthClientSecret: 'corrected' } })
  await run.advance(MINUTE)
  for (const id of ['m', 'n']) expect(await run.outcome(id)).toBe('delivered')
})

test('a token endpoint that is down is an outage: events are retried', async () => {
  const { endpoint, run, sink } = await setUp(200)
  await using _ = run
  endpoint.answer = { status: 503, body: {} }
  await run.send(track('m'))
  expect([(await run.state()).state, await run.outcome('m')]).toEqual(['ok', 'retrying'])
  endpoint.answer = undefined
  await run.advance(10 * SECOND)
  expect(await run.outcome('m')).toBe('delivered')
  expect(sink.arrivals).toHaveLength(1)
})

test('neither token nor secret is in a trace, a dead letter or a log line, also if the destination repeats them', async () => {
  const { run } = await setUp(({ headers }) => ({ status: 400, body: `no: ${headers.authorization} ${SECRET}` }))
  await using _ = run
  await run.send(track('m'))
  expect(await run.outcome('m')).toBe('dead_lettered: answered 400')
  const shown = JSON.stringify([await run.trace('m'), await run.deadLetters(), run.logged])
  expect(shown).toContain('no: Bearer ********')
  for (const secret of [...TOKENS, SECRET]) expect(shown).not.toContain(secret)
})

test('Salesforce: records travel as a collection with a token, and a refused record costs no other', async () => {
  const bodies: { records: { Millrace_Id__c: string }[] }[] = []
  let tokens = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      if (request.url === '/services/oauth2/token') {
        expect(Object.fromEntries(new URLSearchParams(text))).toMatchObject({ grant_type: 'refresh_token' })
        response.end(JSON.stringify({ access_token: TOKENS[tokens++], token_type: 'Bearer', issued_at: '1' }))
      } else if (request.headers.authorization !== `Bearer ${TOKENS[1]}`) {
        response.writeHead(401).end('[{"errorCode":"INVALID_SESSION_ID","message":"Session expired or invalid"}]')
      } else {
        const body = JSON.parse(text) as (typeof bodies)[number]
        bodies.push(body)
        const results = body.records.map(({ Millrace_Id__c: id }) =>
          id === 'u-3' ? { success: false, errors: [{ statusCode: 'REQUIRED_FIELD_MISSING' }] } : { success: true },
        )
        response.end(JSON.stringify(results))
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  endings.push(() => {
    server.closeAllConnections()
    server.close()
  })
  const config = {
    instanceUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    oauthGrant: 'refresh_token',
    oauthClientId: 'key',
    oauthClientSecret: SECRET,
    oauthRefreshToken: 'r7Hq2exampleRefreshToken',
    externalIdField: 'Millrace_Id__c',
  }
  await using run = await PipelineUnderTest.start({ destinations: { d1: { type: 'SALESFORCE', config } } })
  const people = Array.from({ length: 20 }, (_, n) => ({ type: 'identify', messageId: `m-${n}`, userId: `u-${n}` }))
  await run.send(...people)
  await run.advance(MINUTE)
  for (let n = 0; n < 20; n++) {
    expect(await run.outcome(`m-${n}`)).toBe(n === 3 ? 'dead_lettered: answered 200 with an error' : 'delivered')
  }
  expect(bodies.flatMap(({ records }) => records)).toHaveLength(20)
  expect([bodies.length < 20, tokens]).toEqual([true, 2])
})
