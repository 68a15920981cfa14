import { closed, enveloped, named, oneOf, type RouteDescription, refusals, Time, Type } from '@millrace/openapi'
import { ACCESS_TOKEN_SHOWN, ACCESS_TOKEN_WRITTEN, TOKEN_VALUE, USER_SHOWN } from '../../people/account-schemas.ts'
import { PAGE_QUERY, pageAnswers } from '../resources/resource-descriptions.ts'
import { USER_EXAMPLE } from './people.openapi.ts'

const token = {
  id: '3HKbh3KJUutcOg0TP3JBduW9TBn',
  name: 'ci',
  role: 'viewer',
  userId: USER_EXAMPLE.id,
  email: USER_EXAMPLE.email,
  createdAt: '2026-03-01T09:05:00.000Z',
  expiresAt: '2026-12-31T00:00:00.000Z',
  lastUsedAt: null,
}
const { id, name, role } = ACCESS_TOKEN_SHOWN.properties

export const ME_IN_WORDS: RouteDescription = {
  tag: 'Accounts',
  summary: 'Show the current user and token',
  access: 'token',
  answers: {
    200: {
      text: 'The user and the token of the request.',
      schema: closed({ user: USER_SHOWN, token: closed({ id, name, role }) }),
      examples: { me: { user: USER_EXAMPLE, token: { id: token.id, name: token.name, role: token.role } } },
    },
  },
}

export const TOKENS_IN_WORDS: Record<'list' | 'create' | 'remove', RouteDescription> = {
  list: {
    tag: 'Accounts',
    summary: 'List access tokens',
    details: 'Your own; an admin sees all. Without their values.',
    access: 'token',
    query: PAGE_QUERY,
    answers: pageAnswers('accessTokens', ACCESS_TOKEN_SHOWN, token, 'tokens'),
  },
  create: {
    tag: 'Accounts',
    summary: 'Create an access token for yourself',
    access: 'token',
    body: {
      schema: enveloped('accessToken', ACCESS_TOKEN_WRITTEN),
      example: { name: 'ci', role: 'viewer', expiresAt: '2026-12-31T00:00:00.000Z' },
    },
    answers: {
      200: {
        text: 'The token with its value, shown only once.',
        schema: closed({ accessToken: ACCESS_TOKEN_SHOWN, token: TOKEN_VALUE }),
        examples: {
          token: { accessToken: token, token: 'mr_pat_Zk3vN8qT1yWc5RbE7uJd0LfS2gHx6mPa9oVi4XeB' },
        },
        headers: { ETag: Type.String() },
      },
      ...refusals({
        400: [
          'name is required',
          'name is too long',
          'role is required',
          'Unknown role boss',
          'expiresAt must be a time',
          'expiresAt must be in the future',
          'Unknown member: colour',
        ],
        403: ['Forbidden'],
      }),
    },
  },
  remove: {
    tag: 'Accounts',
    summary: 'Revoke an access token',
    details:
      'Your own, of at most the role of your token; an admin may revoke any. The token is refused from the next request on.',
    access: 'token',
    requestHeaders: { 'If-Match': Type.String() },
    answers: {
      204: { text: 'Revoked.' },
      ...refusals({
        403: ['Forbidden'],
        404: [`Access token with id ${token.id} not found`],
        412: ['Resource has changed'],
      }),
    },
  },
}

const Backup = named(
  'Backup',
  closed({
    file: Type.String({ description: 'Name of its file.' }),
    state: oneOf(['running', 'done', 'failed']),
    reason: Type.Optional(Type.String({ description: 'Why it failed.' })),
  }),
)

const DeliveryThread = named(
  'DeliveryThread',
  closed({
    number: Type.Integer({ minimum: 1 }),
    partitions: Type.Array(Type.Integer({ minimum: 0 }), { description: 'Partitions of the log that it delivers.' }),
    busyPercent: Type.Integer({ minimum: 0, maximum: 100, description: 'Share of the last 10 s or more.' }),
    cpuSeconds: Type.Number({ minimum: 0, description: 'Processor time since the start.' }),
  }),
)

const Process = named(
  'Process',
  closed({
    address: Type.String({ description: 'Host and port, by which people find it.' }),
    roles: Type.Array(Type.String()),
    version: Type.String(),
    shards: Type.Integer({ minimum: 0, description: 'Shards that it owns now.' }),
  }),
)

const Info = named(
  'Info',
  closed({
    version: Type.String(),
    uptimeSeconds: Type.Integer({ minimum: 0 }),
    revision: Type.Integer({ minimum: 0, description: 'Revision of the configuration.' }),
    logBytes: Type.Integer({ minimum: 0 }),
    logOldestAt: Type.Union([Time, Type.Null()], { description: 'null if the log is empty.' }),
    lastBackup: Type.Union([Backup, Type.Null()]),
    postgresBackupsFrom: Type.Optional(
      Type.Union([Time, Type.Null()], {
        description:
          'Only in a cluster: Postgres backups taken at this time or later restore everything; null: backups of any age.',
      }),
    ),
    processes: Type.Optional(Type.Array(Process, { description: 'Only in a cluster: the processes that live.' })),
    refusedSignIns: closed(
      {
        count: Type.Integer({ minimum: 0 }),
        addresses: Type.Integer({
          minimum: 0,
          description: 'Number of client addresses; IPv6 addresses by their first 64 bits.',
        }),
        lastAt: Type.Union([Time, Type.Null()]),
      },
      { description: 'Sign-ins answered 429 in the last 24 hours, since the server started.' },
    ),
    deliveryThreads: Type.Array(DeliveryThread, { description: 'The threads that deliver events.' }),
    settings: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]), {
      description: 'Current values by variable; secrets masked.',
    }),
  }),
)

export const INFO_IN_WORDS: RouteDescription = {
  tag: 'Administration',
  summary: 'Show version, sizes and settings of the server',
  access: 'token',
  answers: {
    200: {
      text: 'Version, sizes and settings.',
      schema: closed({ info: Info }),
      examples: {
        info: {
          info: {
            version: '1.0.0',
            uptimeSeconds: 86_400,
            revision: 58,
            logBytes: 73_400_320,
            logOldestAt: '2026-02-25T00:00:00.000Z',
            lastBackup: null,
            refusedSignIns: { count: 0, addresses: 0, lastAt: null },
            deliveryThreads: [{ number: 1, partitions: [0, 1, 2, 3], busyPercent: 12, cpuSeconds: 61.8 }],
            settings: { MILLRACE_MAX_EVENT_KB: 32, MILLRACE_OWNER_TOKEN: '********' },
          },
        },
      },
    },
  },
}
