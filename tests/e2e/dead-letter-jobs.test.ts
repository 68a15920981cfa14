import { DevEnv } from '@millrace/dev-env'
import { expect, test } from 'vitest'

/** Entries of these kinds, oldest first. */
async function entries(env: DevEnv) {
  const { json } = await env.api('GET', '/v2/audit-log')
  type Entry = { kind: string; action: string; resourceId: string; outcome: string; actor: string; diff: object[] }
  return (json.entries as Entry[])
    .filter(({ kind }) => kind === 'dead-letter' || kind === 'replay')
    .map(({ action, kind, resourceId, outcome, actor, diff }) => [action, kind, resourceId, outcome, actor, diff])
    .toReversed()
}

test('each discard, done or refused, is one entry of the audit log', async () => {
  await using env = await DevEnv.open()
  env.sink.answer = () => ({ status: 400 })
  const { source } = await env.webhook()
  for (const messageId of ['a', 'b']) {
    await env.send('/v1/track', { messageId, userId: 'u', event: 'x' }, source.writeKey)
    await env.journey(messageId, 'dead_lettered')
  }
  const [{ id }] = (await env.api('GET', '/v2/dead-letters?messageId=a')).json.deadLetters
  expect((await env.api('DELETE', `/v2/dead-letters/${id}`)).status).toBe(204)
  expect((await env.api('DELETE', `/v2/dead-letters/${id}`)).json).toEqual({
    error: 'Dead letter is discarded',
    code: 'conflict',
    details: null,
  })
  const { json } = await env.api('POST', '/v2/dead-letters/discard', { filter: { state: 'open' } })
  await env.journey('b', 'discarded')
  const { email } = (await env.api('GET', '/v2/me')).json.user
  expect(await entries(env)).toEqual([
    ['discard', 'dead-letter', id, 'ok', email, []],
    ['discard', 'dead-letter', id, 'conflict', email, []],
    ['discard', 'replay', json.replayId, 'ok', email, [{ path: '/filter', from: null, to: { state: 'open' } }]],
  ])
})

test('each replay, and each step of one, is one entry of the audit log; a dry run is none', async () => {
  await using env = await DevEnv.open()
  env.sink.answer = () => ({ status: 400 })
  const { source, destinationId } = await env.webhook()
  for (const messageId of ['a', 'b']) {
    await env.send('/v1/track', { messageId, userId: messageId, event: 'x' }, source.writeKey)
    await env.journey(messageId, 'dead_lettered')
  }
  env.sink.answer = () => ({ status: 200 })
  const [{ id }] = (await env.api('GET', '/v2/dead-letters?messageId=a')).json.deadLetters
  const one = (await env.api('POST', `/v2/dead-letters/${id}/replay`)).json.replayId
  await env.journey('a', 'delivered')
  env.sink.answer = () => ({ status: 500 })
  const filter = { destinationId }
  expect((await env.api('POST', '/v2/dead-letters/replay', { filter, dryRun: true })).status).toBe(202)
  const many = (await env.api('POST', '/v2/dead-letters/replay', { filter })).json.replayId
  await env.journey('b', 'retrying')
  expect((await env.api('POST', `/v2/replays/${many}/resume`)).json.error).toBe('Replay is running')
  expect((await env.api('POST', `/v2/replays/${many}/cancel`)).json.replay.state).toBe('cancelled')
  await env.journey('b', 'dead_lettered')
  const { email } = (await env.api('GET', '/v2/me')).json.user
  expect(await entries(env)).toEqual([
    ['replay', 'dead-letter', id, 'ok', email, [{ path: '/replayId', from: null, to: one }]],
    ['replay', 'replay', many, 'ok', email, [{ path: '/filter', from: null, to: filter }]],
    ['resume', 'replay', many, 'conflict', email, []],
    ['cancel', 'replay', many, 'ok', email, []],
  ])
})
