import { closed, named, type RouteDescription, refusals, Time, Type } from '@millrace/openapi'
import { ACCESS_TOKEN_SHOWN, USER_SHOWN } from '../../people/account-schemas.ts'
import { USER_EXAMPLE } from './people.openapi.ts'

const { id, name, role } = ACCESS_TOKEN_SHOWN.properties
const shown = {
  user: USER_SHOWN,
  token: closed({ id, name, role }),
  expiresAt: { ...Time, description: 'End of the session; without use it ends after 12 hours.' },
}
const half = Type.String({ pattern: '^[0-9A-Za-z_-]{43}$', description: 'Shown only once.' })
const session = {
  user: USER_EXAMPLE,
  token: { id: '3HKbh3KJUutcOg0TP3JBduW9TBn', name: 'ci', role: 'viewer' },
  expiresAt: '2026-03-08T09:10:00.000Z',
}
const NO_SESSION = { 404: ['No session'] } as const
const SET_COOKIE = { 'Set-Cookie': Type.String() }

export const SESSION_IN_WORDS: Record<'begin' | 'show' | 'end', RouteDescription> = {
  begin: {
    tag: 'Accounts',
    summary: 'Sign in to the dashboard',
    details:
      'A session acts for the token. It ends with the token, after 7 days, or after 12 hours without use. The answer holds one ' +
      'half of it and sets a cookie with the other; requests send both, `half` as `X-Millrace-Session`.',
    access: 'none',
    body: {
      schema: closed({ email: Type.String({ minLength: 1 }), token: Type.String({ minLength: 1 }) }),
      example: { email: USER_EXAMPLE.email, token: 'mr_pat_4tQx9ZbW2mLr7VnC0pKd8sFy1aGh3uEjTiRwB6oM' },
    },
    answers: {
      200: {
        text: 'The session.',
        schema: closed({ session: named('NewSession', closed({ half, ...shown })) }),
        examples: { session: { session: { half: 'kMq0nX3rY7vT2sB8dF1gH5jL9pZ4cW6eR0tU_iO-aSx', ...session } } },
        headers: SET_COOKIE,
      },
      ...refusals({
        400: ['email is required', 'token is required', 'Unknown member: colour'],
        401: ['Invalid Authorization Header'],
        429: ['Too many failed sign-ins from this address: try again in 42 s'],
      }),
    },
  },
  show: {
    tag: 'Accounts',
    summary: 'Show the current session',
    access: 'token',
    answers: {
      200: {
        text: 'The session, without its halves.',
        schema: closed({ session: named('Session', closed(shown)) }),
        examples: { session: { session } },
      },
      ...refusals(NO_SESSION),
    },
  },
  end: {
    tag: 'Accounts',
    summary: 'Sign out of the dashboard',
    access: 'token',
    answers: { 204: { text: 'Signed out.', headers: SET_COOKIE }, ...refusals(NO_SESSION) },
  },
}
