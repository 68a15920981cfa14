import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { DevEnv } from '@millrace/dev-env'
import { afterAll, beforeAll, expect, test } from 'vitest'

let env: DevEnv
beforeAll(async () => {
  env = await DevEnv.open()
})
afterAll(() => env[Symbol.asyncDispose]())

const UNAUTHORIZED = { error: 'Invalid Authorization Header', code: 'unauthorized', details: null }

/** Listens to GET /v2/tail. */
class Listening {
  text = ''
  readonly #chunks
  readonly #decoder = new TextDecoder()

  private constructor(chunks: AsyncIterator<Uint8Array>) {
    this.#chunks = chunks
  }

  static async start(token = env.token): Promise<Listening> {
    const answer = await fetch(`${env.url}/v2/tail`, { headers: { Authorization: `Bearer ${token}` } })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    expect(answer.headers.get('cache-control')).toBe('no-store')
    return new Listening(answer.body![Symbol.asyncIterator]())
  }

  async until(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.text)) {
      const { value, done } = await this.#chunks.next()
      if (done) throw new Error(`ended before ${pattern}: ${this.text}`)
      this.text += this.#decoder.decode(value, { stream: true })
    }
  }

  /** Goes away before the end. */
  async leave(): Promise<void> {
    await this.#chunks.return?.()
  }

  async end(): Promise<void> {
    while (!(await this.#chunks.next()).done);
  }
}

test('an event is seen live with its outcome, and then stands in the list', async () => {
  const { source, destinationId } = await env.webhook()
  const listening = await Listening.start()
  await env.send('/v1/track', { messageId: 'seen', userId: 'u-1', event: 'Seat Reserved' }, source.writeKey)
  await listening.until(/event: accepted\ndata: \{"messageId":"seen"/)
  await listening.until(/event: outcome\ndata: \{"messageId":"seen",.*"outcome":"delivered"/)
  await env.journey('seen', 'delivered')
  const { json } = await env.api('GET', '/v2/events?userId=u-1')
  expect(json.events).toMatchObject([
    { messageId: 'seen', sourceId: source.id, outcomes: [{ destinationId, outcome: 'delivered', reason: null }] },
  ])
})

test('both are for who may read, and for no other method', async () => {
  for (const path of ['/v2/events', '/v2/tail']) {
    const { status, json } = await env.request(path)
    expect([path, status, json]).toEqual([path, 401, UNAUTHORIZED])
    const posted = await env.api('POST', path, {})
    expect([path, posted.status, posted.json.error]).toEqual([path, 405, 'Method Not Allowed'])
  }
  expect((await env.api('HEAD', '/v2/tail')).status).toBe(405)
  const { json } = await env.api('GET', '/v2/events?limit=0')
  expect(json).toEqual({ error: 'Invalid limit', code: 'bad_request', details: null })
})

test('millrace tail shows it on the command line, and Ctrl-C ends that with 0', async () => {
  const { writeKey } = await env.source()
  const main = path.join(path.dirname(path.dirname(import.meta.dirname)), 'apps/server/src/main.ts')
  const argv = [main, 'tail', '--json', '--user', 'u-cli', '--url', env.url, '--token', env.token]
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  let line = ''
  child.stdout.on('data', (chunk) => {
    line += chunk
  })
  const shown = once(child.stdout, 'data')
  // Nothing tells when it has begun to listen.
  for (let n = 0; line === ''; n++) {
    await env.send('/v1/track', { messageId: `cli-${n}`, userId: 'u-cli', event: 'Shown' }, writeKey)
    await Promise.race([shown, setTimeout(50)])
  }
  expect(JSON.parse(line.split('\n')[0]!)).toMatchObject({
    event: 'accepted',
    data: { userId: 'u-cli', name: 'Shown' },
  })
  child.kill('SIGINT')
  expect(await exited).toEqual([0, null])
})

test('a revoked token ends what is watched with it, and nothing else', async () => {
  const { json } = await env.api('POST', '/v2/access-tokens', { name: 'watcher', role: 'viewer' })
  const listening = await Listening.start(json.token)
  const other = await Listening.start()
  await env.api('DELETE', `/v2/access-tokens/${json.accessToken.id}`)
  await listening.end()
  const { writeKey } = await env.source()
  await env.send('/v1/track', { messageId: 'later', userId: 'u', event: 'Later' }, writeKey)
  await other.until(/"later"/)
})

test('a 21st listener is told that there are too many, until another one leaves', async () => {
  await env.restart()
  const listeners = await Promise.all(Array.from({ length: 20 }, () => Listening.start()))
  const { status, json } = await env.api('GET', '/v2/tail')
  expect([status, json]).toEqual([503, { error: 'Too many listeners', code: 'unavailable', details: null }])
  await listeners.pop()!.leave()
  await expect
    .poll(async () => {
      const answer = await fetch(`${env.url}/v2/tail`, { headers: { Authorization: `Bearer ${env.token}` } })
      await answer.body?.cancel()
      return answer.status
    })
    .toBe(200)
  await env.restart()
  for (const listener of listeners) await listener.end()
})
