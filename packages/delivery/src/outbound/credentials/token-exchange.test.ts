import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import type { OutboundResult } from '../outbound-request.ts'
import { OAuthTokens, type Send } from './oauth-tokens.ts'
import { outboundCredentials } from './outbound-credentials.ts'
import type { TokenAnswer } from './token-answer.ts'
import { TokenExchange } from './token-exchange.ts'

const HOUR_MS = 3_600_000
const GRANT = outboundCredentials({
  grant: {
    tokenUrl: 'https://id.cinema.example/token',
    clientId: 'cinema',
    clientSecret: 's3cret',
    clientAuth: 'basic',
    fields: { grant_type: 'client_credentials' },
  },
  certificate: undefined,
  tokenOrigin: undefined,
  userAgent: 'Millrace/1.2.3',
})!.grant!

/** Tokens of several threads of one process, and an endpoint that answers when it is told to. */
function threadsOf(count: number) {
  const clock = new ManualClock(0)
  const shared = new TokenExchange({ clock })
  const requests: ((result: OutboundResult) => void)[] = []
  const send: Send = (_, onDone) => {
    requests.push(onDone)
    return { abort: () => onDone({ kind: 'aborted' }) }
  }
  const threads = Array.from({ length: count }, () => new OAuthTokens({ clock, shared }))
  const ask = (thread: OAuthTokens, by: Send = send) =>
    new Promise<TokenAnswer>((resolve) => thread.wait(GRANT, by, resolve))
  const answer = async (n: number) => {
    await expect.poll(() => requests.length).toBe(n)
    const text = JSON.stringify({ access_token: `token-${n}`, expires_in: HOUR_MS / 1_000 })
    requests.at(-1)!({ kind: 'answer', status: 200, durationMs: 1, text, retryAfterMs: undefined } as never)
  }
  return { clock, shared, threads, requests, ask, answer, send }
}

test('one request for a token serves the calls of all threads, and those that come later', async () => {
  const { clock, shared, threads, requests, ask, answer } = threadsOf(4)
  const asked = threads.flatMap((thread) => [ask(thread), ask(thread)])
  await answer(1)
  expect(await Promise.all(asked)).toEqual(asked.map(() => ({ token: 'token-1', lifetimeMs: HOUR_MS })))
  await clock.advance(HOUR_MS / 2)
  expect(await ask(new OAuthTokens({ clock, shared }))).toEqual({ token: 'token-1', lifetimeMs: HOUR_MS / 2 })
  expect(requests).toHaveLength(1)
})

test('a token that a destination refuses is replaced once, for all threads', async () => {
  const { threads, requests, ask, answer, send } = threadsOf(2)
  const [one, two] = threads as [OAuthTokens, OAuthTokens]
  const first = [ask(one), ask(two)]
  await answer(1)
  await Promise.all(first)
  one.drop(GRANT, 'token-1')
  const next = ask(one)
  await answer(2)
  expect(await next).toMatchObject({ token: 'token-2' })
  // The other thread still has the first one, until it is refused there, too.
  expect(two.current(GRANT, send)).toBe('token-1')
  two.drop(GRANT, 'token-1')
  expect(await ask(two)).toMatchObject({ token: 'token-2' })
  expect(requests).toHaveLength(2)
})

test('a token that ends soon is replaced once', async () => {
  const { clock, threads, requests, ask, answer, send } = threadsOf(2)
  const first = threads.map((thread) => ask(thread))
  await answer(1)
  await Promise.all(first)
  await clock.advance(HOUR_MS - 30_000)
  for (const thread of threads) expect(thread.current(GRANT, send)).toBe('token-1')
  await answer(2)
  for (const thread of threads) await expect.poll(() => thread.current(GRANT, send)).toBe('token-2')
  expect(requests).toHaveLength(2)
})

test('a request that is aborted is made by another thread that waits', async () => {
  const { threads, requests, ask, answer } = threadsOf(2)
  const [one, two] = threads as [OAuthTokens, OAuthTokens]
  void ask(one)
  await expect.poll(() => requests.length).toBe(1)
  const waiting = ask(two)
  requests[0]!({ kind: 'aborted' })
  await answer(2)
  expect(await waiting).toMatchObject({ token: 'token-2' })
})
