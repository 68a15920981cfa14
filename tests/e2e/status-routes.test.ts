import { DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sendRaw } from './raw-http.ts'

/* contracts/ingest.md §1 (paths and methods), §6 (408, 431) and §8 (status routes). */

const METRICS_TOKEN = 'metrics-0123456789'

let env: DevEnv
let guarded: DevEnv

beforeAll(async () => {
  env = await DevEnv.open()
  guarded = await DevEnv.open({ settings: { MILLRACE_METRICS_TOKEN: METRICS_TOKEN } })
})
afterAll(async () => {
  await env?.[Symbol.asyncDispose]()
  await guarded?.[Symbol.asyncDispose]()
})

describe('health', () => {
  test('is the whole object, without credentials', async () => {
    const { status, json } = await env.request('/health')
    expect(status).toBe(200)
    expect(json).toEqual({
      appType: 'EMBEDDED',
      server: 'UP',
      db: 'UP',
      acceptingEvents: 'TRUE',
      routingEvents: 'TRUE',
      mode: 'NORMAL',
      backendConfigMode: 'LOCAL',
      lastSync: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      checks: {
        log: 'ok',
        disk: 'ok',
        config: 'ok',
        catalog: 'ok',
        delivery: 'ok',
        backlog: 'ok',
        readers: 'ok',
        damage: 'ok',
      },
    })
  })

  test('is also the answer of the root to those who want no page', async () => {
    const { status, json } = await env.request('/')
    expect([status, json.server]).toEqual([200, 'UP'])
  })

  test('a failing destination is not trouble of the service', async () => {
    const { source } = await env.webhook({ config: { webhookUrl: `${env.sink.url}/failing` } })
    env.sink.answer = () => ({ status: 500 })
    await env.send('/v1/track', { userId: 'u', event: 'x' }, source.writeKey)
    await env.sink.waitFor(1)
    expect((await env.request('/health')).status).toBe(200)
    env.sink.answer = () => ({})
  })
})

test('ready, version and robots.txt', async () => {
  const ready = await env.request('/ready')
  expect([ready.status, ready.json]).toEqual([200, { ready: true }])
  const version = await env.request('/version')
  expect([version.status, Object.keys(version.json)]).toEqual([200, ['Version', 'Revision', 'BuildDate', 'Features']])
  expect(version.json.Version).toMatch(/^\d+\.\d+\.\d+/)
  expect(version.json.Features).toEqual(expect.any(Array))
  const robots = await env.request('/robots.txt')
  expect([robots.status, robots.text.trimEnd()]).toEqual([200, 'User-agent: *\nDisallow: /'])
  expect(robots.headers.get('content-type')).toMatch(/^text\/plain/)
})

describe('metrics', () => {
  test('count what was accepted, refused and delivered, in the text format of Prometheus', async () => {
    const { source, destinationId } = await env.webhook()
    env.sink.clear()
    await env.send('/v1/batch', { batch: [1, 2].map(() => ({ type: 'track', userId: 'u' })) }, source.writeKey)
    await env.send('/v1/track', {}, source.writeKey)
    await env.sink.waitFor(2)

    const delivered = `millrace_delivery_total{destination_id="${destinationId}",outcome="delivered"} 2`
    const { headers, text } = await metricsWith(delivered)
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const lines = text.split('\n')
    expect(lines).toContain(`millrace_ingest_requests_total{route="/v1/batch",status="200"} 1`)
    expect(lines).toContain(`millrace_ingest_events_total{source_id="${source.id}",type="track"} 2`)
    expect(lines).toContain(`millrace_delivery_attempts_total{destination_id="${destinationId}",class="delivered"} 2`)
    expect(lines).toContain(delivered)
    for (const name of NAMES) expect(text).toMatch(new RegExp(`^${name}(_bucket)?(\\{.*\\})? [0-9.e+]+$`, 'm'))
    for (const line of lines) expect(line).toMatch(/^$|^# (HELP|TYPE) millrace_|^millrace_\w+(\{.*\})? [0-9.e+-]+$/)
  })

  test('ask for the token when one is set', async () => {
    const answers = ['', 'Bearer ', 'Bearer wrong', `Basic ${METRICS_TOKEN}`, `Bearer ${METRICS_TOKEN}x`]
    for (const authorization of answers) {
      const { status, text } = await guarded.request('/metrics', { headers: { authorization } })
      expect([authorization, status]).toEqual([authorization, 401])
      expect(text).not.toContain('millrace_')
    }
    const { status } = await guarded.request('/metrics', { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
    expect(status).toBe(200)
  })

  test('of a server that other machines reach ask for a token, or an access token of an admin', async () => {
    await using exposed = await DevEnv.open({ settings: { MILLRACE_HOST: '0.0.0.0' } })
    const ask = (authorization: string) => exposed.request('/metrics', { headers: { authorization } })
    const { token: viewer } = (await exposed.api('POST', 'access-tokens', { name: 'look', role: 'viewer' })).json
    expect((await exposed.request('/metrics')).status).toBe(401)
    expect((await ask('Bearer wrong')).status).toBe(401)
    expect((await ask(`Bearer ${viewer}`)).status).toBe(401)
    expect((await ask(`Bearer ${exposed.token}`)).status).toBe(200)
    expect((await guarded.request('/metrics', { headers: { authorization: `Bearer ${guarded.token}` } })).status).toBe(
      200,
    )
  })
})

describe('paths and methods', () => {
  test.each(['/nothing', '/internal/x', '/v1/audiencelist', '/v1', '/v2/nothing', '/inbox/0123', '/%zz'])(
    '%s is not found, whatever the method',
    async (path) => {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const { status, text } = await env.request(path, { method })
        expect([method, status]).toEqual([method, 404])
        expect(text).toContain('Not Found')
      }
    },
  )

  test.each([
    ['POST', '/health', 'GET, HEAD'],
    ['DELETE', '/ready', 'GET, HEAD'],
    ['POST', '/version', 'GET, HEAD'],
    ['PUT', '/metrics', 'GET, HEAD'],
    ['POST', '/robots.txt', 'GET, HEAD'],
    ['POST', '/sourceConfig', 'GET, HEAD'],
    ['POST', '/', 'GET, HEAD'],
    ['POST', '/v1/projects/key/settings', 'GET, HEAD'],
    ['PUT', '/v1/projects/key/settings/', 'GET, HEAD'],
    ['POST', '/analytics.js/v1/key/analytics.min.js', 'GET, HEAD'],
    ['DELETE', '/analytics-next/bundles/x', 'GET, HEAD'],
    ['GET', '/v1/track', 'POST'],
    ['PUT', '/v1/batch', 'POST'],
    ['POST', '/pixel/v1/track', 'GET, HEAD'],
    ['PATCH', '/v2/sources', 'GET, HEAD, POST'],
    ['POST', '/v2/events/m-1', 'GET, HEAD'],
  ])('%s %s is answered 405 and told what is allowed', async (method, path, allowed) => {
    const { status, text, headers } = await env.request(path, { method })
    expect([status, text.includes('Method Not Allowed')]).toEqual([405, true])
    expect(methods(headers.get('allow'))).toEqual(expect.arrayContaining(methods(allowed)))
  })

  test.each(['/health', '/ready', '/version', '/metrics', '/robots.txt', '/'])('HEAD %s', async (path) => {
    const [head, get] = await Promise.all([env.request(path, { method: 'HEAD' }), env.request(path)])
    expect([head.status, head.text]).toEqual([200, ''])
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
  })

  test.each(['/health/', '/ready/', '/version/', '/metrics/', '/robots.txt/', '/v2/me/'])(
    'one trailing slash is ignored: %s',
    async (path) => {
      expect((await env.api('GET', path)).status).toBe(200)
      expect((await env.api('GET', `${path}/`)).status).toBe(404)
    },
  )
})

test.each(['/health', '/ready', '/version', '/metrics', '/robots.txt', '/', '/v1/track', '/sourceConfig'])(
  'a preflight of %s is granted to every origin',
  async (path) => {
    const asked = { Origin: 'https://cinema.example', 'Access-Control-Request-Headers': 'authorization' }
    const { status, headers } = await env.request(path, { method: 'OPTIONS', headers: asked })
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe('https://cinema.example')
    expect(headers.get('access-control-allow-methods')).toBe('GET, POST, HEAD')
    expect(headers.get('access-control-allow-headers')).toBe('authorization')
    expect(headers.get('access-control-max-age')).toBe('900')
  },
)

describe('what is not a whole request', () => {
  test('a header over 64 KB is answered 431, and one just below is read', async () => {
    const answer = await sendRaw(env.url, `GET /ready HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(65_536)}\r\n\r\n`)
    expect(answer).toMatch(/^HTTP\/1\.1 431 /)
    expect(answer).toMatch(/^x-content-type-options: nosniff\r$/im)
    expect(answer).toMatch(/\r\n\r\nRequest header too large$/)
    const long = { 'X-Long': 'a'.repeat(60_000) }
    expect((await env.request('/ready', { headers: long })).status).toBe(200)
  })

  test('what is not HTTP is answered 400', async () => {
    expect(await sendRaw(env.url, 'hello\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
  })
})

const NAMES = [
  'millrace_ingest_requests_total',
  'millrace_ingest_events_total',
  'millrace_ingest_rejected_total',
  'millrace_ingest_duration_seconds',
  'millrace_log_append_seconds',
  'millrace_log_sync_failures_total',
  'millrace_log_bytes',
  'millrace_disk_free_bytes',
  'millrace_delivery_attempts_total',
  'millrace_delivery_total',
  'millrace_delivery_pending',
  'millrace_delivery_oldest_pending_seconds',
  'millrace_delivery_blocked_users',
  'millrace_backlog_bytes',
]

function methods(allow: string | null): string[] {
  return (allow ?? '').split(', ')
}

/** An answer of the destination is counted a moment after it was sent. */
async function metricsWith(line: string) {
  for (let tries = 0; ; tries++) {
    const answer = await env.request('/metrics')
    if (answer.text.includes(line) || tries === 200) return answer
  }
}
