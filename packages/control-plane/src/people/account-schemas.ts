import { closed, closedPartial, Id, named, oneOf, readOnly, Time, Type } from '@millrace/openapi'
import { NAME, READ_ONLY_MEMBERS } from '../resources/written-fields.ts'
import { ROLES } from './role.ts'

const role = named('Role', oneOf(ROLES))
const timeOrNull = Type.Union([Time, Type.Null()])

/** The routes read bodies with these schemas, and the OpenAPI document shows them. @see contracts/control-plane.md §7 [D712] */
export const ACCESS_TOKEN_WRITTEN = named(
  'AccessTokenWritten',
  closed({
    ...readOnly(['id', 'createdAt', 'updatedAt', 'workspaceId']),
    name: NAME,
    role: oneOf(ROLES, { description: "At most the role of the request's token." }),
    expiresAt: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        default: null,
        description: "A time in the future; null: never. The token ends no later than the request's token.",
      }),
    ),
  }),
)

export const ACCESS_TOKEN_SHOWN = named(
  'AccessToken',
  closed({
    id: Id,
    name: NAME,
    role,
    userId: Id,
    email: Type.String(),
    createdAt: Time,
    expiresAt: timeOrNull,
    lastUsedAt: Type.Union([Time, Type.Null()], { description: 'To the minute.' }),
  }),
)

/** The value of a token, shown once. */
export const TOKEN_VALUE = Type.String({ pattern: '^mr_pat_[0-9A-Za-z]{40}$', description: 'Shown only once.' })

export const USER_SHOWN = named(
  'User',
  closed({ id: Id, email: Type.String(), role, createdAt: Time, updatedAt: Time }),
)

const email = Type.String({ maxLength: 254 })

export const USER_WRITTEN = named(
  'UserWritten',
  closed({
    ...readOnly(['id', 'createdAt', 'updatedAt', 'workspaceId']),
    email,
    role,
  }),
)

/** PATCH: omitted members stay. */
export const USER_CHANGED = closedPartial(USER_WRITTEN.properties)

/** @see contracts/control-plane.md §7 [D726] */
export const CREDENTIAL_WRITTEN = closed({
  ...readOnly(READ_ONLY_MEMBERS),
  value: Type.String({ minLength: 1, description: 'At most 16 KB.' }),
})

export const CREDENTIAL_SHOWN = named(
  'Credential',
  closed({ key: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$' }), updatedAt: Time }),
)
