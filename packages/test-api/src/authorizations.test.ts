import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { beginAuthorization, LocalAuthorizations } from './authorizations.ts'

const GIVEN = {
  authorization: {
    authorizeUrl: 'https://login.example/authorize?tenant=a',
    tokenUrl: 'https://login.example/token',
    clientId: 'app',
    clientSecret: 's',
    scope: 'send',
    params: { access_type: 'offline', state: 'of the type' },
  },
  redirectUri: 'https://millrace.example/ui/oauth',
  tokenOrigin: undefined,
  secrets: ['s'],
  actorId: 'ada',
}

test('the address keeps the parameters of the type, which cannot replace those of the authorization', async () => {
  const { url, state } = await beginAuthorization(GIVEN, new LocalAuthorizations(new ManualClock(0)))
  const { searchParams } = new URL(url)
  expect([searchParams.get('tenant'), searchParams.get('access_type')]).toEqual(['a', 'offline'])
  expect(searchParams.getAll('state')).toEqual([state])
})

test('an authorization ends after ten minutes, and when it was taken', async () => {
  const clock = new ManualClock(0)
  const authorizations = new LocalAuthorizations(clock)
  const [first, second] = [
    await beginAuthorization(GIVEN, authorizations),
    await beginAuthorization(GIVEN, authorizations),
  ]
  expect(first.state).not.toBe(second.state)
  await clock.advance(10 * 60_000 - 1)
  expect(await authorizations.take(first.state, 'eve')).toBeUndefined()
  expect(await authorizations.take(first.state, 'ada')).toMatchObject({ redirectUri: GIVEN.redirectUri })
  expect(await authorizations.take(first.state, 'ada')).toBeUndefined()
  await clock.advance(1)
  expect(await authorizations.take(second.state, 'ada')).toBeUndefined()
})

test('a thousand are kept at most, the newest of them', async () => {
  const authorizations = new LocalAuthorizations(new ManualClock(0))
  const states: string[] = []
  for (let n = 0; n < 1_001; n++) states.push((await beginAuthorization(GIVEN, authorizations)).state)
  expect(await authorizations.take(states[0]!, 'ada')).toBeUndefined()
  expect(await authorizations.take(states[1]!, 'ada')).toBeDefined()
})
