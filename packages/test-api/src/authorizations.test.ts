import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { Authorizations } from './authorizations.ts'

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
  masking: { text: String },
  actorId: 'ada',
}

test('the address keeps the parameters of the type, which cannot replace those of the authorization', () => {
  const { url, state } = new Authorizations(new ManualClock(0)).begin(GIVEN)
  const { searchParams } = new URL(url)
  expect([searchParams.get('tenant'), searchParams.get('access_type')]).toEqual(['a', 'offline'])
  expect(searchParams.getAll('state')).toEqual([state])
})

test('an authorization ends after ten minutes, and when it was taken', async () => {
  const clock = new ManualClock(0)
  const authorizations = new Authorizations(clock)
  const [first, second] = [authorizations.begin(GIVEN), authorizations.begin(GIVEN)]
  expect(first.state).not.toBe(second.state)
  await clock.advance(10 * 60_000 - 1)
  expect(authorizations.take(first.state, 'eve')).toBeUndefined()
  expect(authorizations.take(first.state, 'ada')).toMatchObject({ redirectUri: GIVEN.redirectUri })
  expect(authorizations.take(first.state, 'ada')).toBeUndefined()
  await clock.advance(1)
  expect(authorizations.take(second.state, 'ada')).toBeUndefined()
})

test('a thousand are kept at most, the newest of them', () => {
  const authorizations = new Authorizations(new ManualClock(0))
  const states = Array.from({ length: 1_001 }, () => authorizations.begin(GIVEN).state)
  expect(authorizations.take(states[0]!, 'ada')).toBeUndefined()
  expect(authorizations.take(states[1]!, 'ada')).toBeDefined()
})
