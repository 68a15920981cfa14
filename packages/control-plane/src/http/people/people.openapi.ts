import {
  closed,
  enveloped,
  Id,
  listOf,
  named,
  oneOf,
  type RouteDescription,
  refusals,
  Time,
  Type,
} from '@millrace/openapi'
import { AUDIT_KINDS } from '../../audit/audit-entry.ts'
import {
  CREDENTIAL_SHOWN,
  CREDENTIAL_WRITTEN,
  TOKEN_VALUE,
  USER_CHANGED,
  USER_SHOWN,
  USER_WRITTEN,
} from '../../people/account-schemas.ts'
import { PAGE_QUERY, pageAnswers } from '../resources/resource-descriptions.ts'

const requestHeaders = { 'If-Match': Type.String() }
const ETAG = { ETag: Type.String() }
const CHANGED = { 412: ['Resource has changed'] } as const

export const USER_EXAMPLE = {
  id: '3Uu7afqT7PwuTNOQMc18wsjmObJ',
  email: 'ada@cinema.example',
  role: 'editor',
  createdAt: '2026-03-01T09:00:00.000Z',
  updatedAt: '2026-03-01T09:00:00.000Z',
}
const USER_ERRORS = [
  'email is required',
  'email is not an e-mail address',
  'role is required',
  'Unknown role boss',
  'Unknown member: colour',
]
const UNKNOWN_USER = { 404: [`User with id ${USER_EXAMPLE.id} not found`] } as const

export const USERS_IN_WORDS: Record<'list' | 'create' | 'get' | 'update' | 'remove', RouteDescription> = {
  list: {
    tag: 'Accounts',
    summary: 'List users',
    access: 'token',
    query: PAGE_QUERY,
    answers: pageAnswers('users', USER_SHOWN, USER_EXAMPLE),
  },
  create: {
    tag: 'Accounts',
    summary: 'Create a user with a first token',
    access: 'token',
    body: { schema: enveloped('user', USER_WRITTEN), example: { email: USER_EXAMPLE.email, role: USER_EXAMPLE.role } },
    answers: {
      200: {
        text: 'The user, and the first token, shown only once. It expires when the token of the request does.',
        schema: closed({ user: USER_SHOWN, token: TOKEN_VALUE }),
        examples: { user: { user: USER_EXAMPLE, token: 'mr_pat_4tQx9ZbW2mLr7VnC0pKd8sFy1aGh3uEjTiRwB6oM' } },
        headers: ETAG,
      },
      ...refusals({ 400: USER_ERRORS, 409: ['email is already in use'] }),
    },
  },
  get: {
    tag: 'Accounts',
    summary: 'Show a user',
    access: 'token',
    answers: { 200: { ...oneUser('The user.') }, ...refusals(UNKNOWN_USER) },
  },
  update: {
    tag: 'Accounts',
    summary: 'Change a user',
    details: 'A lower role takes effect with the next request, also for existing tokens.',
    access: 'token',
    requestHeaders,
    body: { schema: enveloped('user', USER_CHANGED), example: { role: 'viewer' } },
    answers: {
      200: { ...oneUser('The changed user.') },
      ...refusals({ 400: USER_ERRORS, ...UNKNOWN_USER, 409: ['Last admin', 'email is already in use'], ...CHANGED }),
    },
  },
  remove: {
    tag: 'Accounts',
    summary: 'Remove a user with all tokens',
    access: 'token',
    requestHeaders,
    answers: {
      204: { text: 'The user is removed; all their tokens are refused.' },
      ...refusals({ ...UNKNOWN_USER, 409: ['Last admin'], ...CHANGED }),
    },
  },
}

function oneUser(text: string) {
  return { text, schema: closed({ user: USER_SHOWN }), examples: { user: { user: USER_EXAMPLE } }, headers: ETAG }
}

const credential = { key: 'geo_api', updatedAt: '2026-03-01T09:10:00.000Z' }
const UNKNOWN_CREDENTIAL = { 404: ['Credential with key geo_api not found'] } as const

export const CREDENTIALS_IN_WORDS: Record<'list' | 'put' | 'remove', RouteDescription> = {
  list: {
    tag: 'Credentials',
    summary: 'List credentials, without their values',
    access: 'token',
    query: PAGE_QUERY,
    answers: pageAnswers('credentials', CREDENTIAL_SHOWN, credential),
  },
  put: {
    tag: 'Credentials',
    summary: 'Create a credential, or change its value',
    details: 'Its value is stored encrypted and never returned.',
    access: 'token',
    requestHeaders,
    body: { schema: enveloped('credential', CREDENTIAL_WRITTEN), example: { value: 's3cret' } },
    answers: {
      200: {
        text: 'The credential, without its value.',
        schema: closed({ credential: CREDENTIAL_SHOWN }),
        examples: { credential: { credential } },
        headers: ETAG,
      },
      ...refusals({
        400: [
          'key must have 1 to 64 characters A-Z, a-z, 0-9, _, ., -',
          'value is required',
          'value is too long',
          'Unknown member: colour',
        ],
        409: ['Too many credentials'],
        ...CHANGED,
      }),
    },
  },
  remove: {
    tag: 'Credentials',
    summary: 'Remove a credential',
    access: 'token',
    requestHeaders,
    answers: { 204: { text: 'Removed.' }, ...refusals({ ...UNKNOWN_CREDENTIAL, ...CHANGED }) },
  },
}

const textOrNull = Type.Union([Type.String(), Type.Null()])
/** Of what was changed, as whoever may read it is shown. */
export const DIFF_LINE = named(
  'DiffLine',
  closed({
    path: Type.String({ description: 'JSON pointer.' }),
    from: Type.Unknown({ description: 'null if there was no value.' }),
    to: Type.Unknown({ description: 'null if there is no value.' }),
    secretChanged: Type.Optional(Type.Literal(true)),
  }),
)
const AuditEntry = named(
  'AuditEntry',
  closed({
    id: Id,
    at: Time,
    actor: Type.String({ description: 'E-mail address; `millrace` is the server itself, `unknown` an unknown user.' }),
    tokenName: textOrNull,
    address: textOrNull,
    action: Type.String(),
    kind: named('AuditKind', oneOf(AUDIT_KINDS)),
    resourceId: textOrNull,
    outcome: Type.String({ description: '`ok`, or the code of the error that refused it.' }),
    requestId: textOrNull,
    diff: Type.Array(DIFF_LINE),
  }),
)

export const AUDIT_IN_WORDS: RouteDescription = {
  tag: 'Administration',
  summary: 'List the audit log, newest first',
  access: 'token',
  query: {
    from: Type.String({ description: 'At or after this time.' }),
    to: Type.String({ description: 'Before this time.' }),
    actor: Type.String(),
    kind: oneOf(AUDIT_KINDS),
    limit: PAGE_QUERY.limit,
    cursor: Type.String({ description: '`paging.next` of the previous page.' }),
  },
  answers: {
    200: {
      text: 'A page of entries.',
      schema: listOf('entries', AuditEntry),
      examples: {
        page: {
          entries: [
            {
              id: '3n9E4mna2lWc5fR4EEcDQAiFmog',
              at: '2026-03-02T10:12:00.000Z',
              actor: 'ada@cinema.example',
              tokenName: 'ci',
              address: '203.0.113.40',
              action: 'update',
              kind: 'destination',
              resourceId: '3uLMicKvWtFGwbwBkUIwtP0l8lu',
              outcome: 'ok',
              requestId: '7164095d-6742-468c-bd2e-bcb236116650',
              diff: [{ path: '/enabled', from: false, to: true }],
            },
          ],
          paging: { total: 1, next: '' },
        },
      },
    },
    ...refusals({ 400: ['Invalid limit', 'Invalid cursor', 'Invalid kind', 'Invalid time in from'] }),
  },
}
