import { ApiError, badRequest, notFound, refuseUnknownMembers } from '@millrace/openapi'
import { type JsonObject, ownMember } from '@millrace/protocol'
import { created, deleted, updated } from '../audit/audited.ts'
import { openDocument } from '../configuration/document-diff.ts'
import { type Condition, refuseUnlessTagged } from '../resources/resource-service.ts'
import { membersOf, readRole } from '../resources/written-fields.ts'
import type { Change } from '../workspace/change.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { newAccessToken } from './access-tokens.ts'
import { USER_WRITTEN } from './account-schemas.ts'
import { type Accounts, type User, userJson } from './accounts.ts'
import type { Actor } from './actor.ts'
import type { Author } from './author.ts'
import { isEmail } from './email.ts'
import type { Role } from './role.ts'

const MEMBERS = membersOf(USER_WRITTEN)

/** A new user, with a token that is known only here and now. */
export interface NewUser {
  readonly user: User
  readonly token: string
}

/**
 * The users of the workspace. At least one of them is an admin.
 *
 * @see contracts/control-plane.md §2 [D703], §7 [D712]
 */
export class Users {
  readonly #workspace: Workspace

  constructor(workspace: Workspace) {
    this.#workspace = workspace
  }

  /** In order of creation. */
  list(): User[] {
    return [...this.#workspace.state.accounts.users.values()]
  }

  /** @throws ApiError 404 */
  get(id: string): User {
    return find(this.#workspace.state.accounts, id)
  }

  /** The first token expires with the token of the request. */
  create(by: Author, actor: Actor, written: JsonObject): Promise<NewUser> {
    return this.#workspace.change(by, ({ accounts, at }) => {
      const { email, role } = readFields(written)
      refuseTaken(accounts, email)
      const user = { id: this.#workspace.newId(at), email, role, createdAt: at, updatedAt: at }
      const first = { userId: user.id, name: 'First token', role, expiresAt: actor.token.expiresAt }
      const { accessToken, token } = newAccessToken(this.#workspace, first, at)
      return {
        changes: [
          { kind: 'user', id: user.id, value: user },
          { kind: 'access-token', id: accessToken.id, value: accessToken },
        ],
        audit: [created('user', user.id), created('access-token', accessToken.id)],
        result: { user, token },
      }
    })
  }

  /** PATCH: a lower role takes effect with the next request, whatever role the tokens have. */
  update(by: Author, id: string, written: JsonObject, { ifMatch }: Condition = {}): Promise<User> {
    return this.#workspace.change(by, ({ accounts, at }) => {
      const saved = find(accounts, id)
      const user = { ...saved, ...readFields(written, saved), updatedAt: at }
      refuseUnlessTagged(userTag(saved), ifMatch)
      refuseTaken(accounts, user.email, id)
      if (user.role !== 'admin') refuseLastAdmin(accounts, id)
      const audited = updated('user', id, openDocument(userJson(saved)), openDocument(userJson(user)))
      return { changes: [{ kind: 'user', id, value: user }], audit: [audited], result: user }
    })
  }

  /** Also removes the user's tokens. */
  remove(by: Author, id: string, { ifMatch }: Condition = {}): Promise<void> {
    return this.#workspace.change(by, ({ accounts }) => {
      refuseUnlessTagged(userTag(find(accounts, id)), ifMatch)
      refuseLastAdmin(accounts, id)
      const tokens = [...accounts.tokens.values()].filter(({ userId }) => userId === id)
      const changes: Change[] = tokens.map((token) => ({ kind: 'access-token', id: token.id, value: undefined }))
      changes.push({ kind: 'user', id, value: undefined })
      const audit = [...tokens.map((token) => deleted('access-token', token.id)), deleted('user', id)]
      return { changes, audit, result: undefined }
    })
  }
}

/** Changes with every change of the user. */
export function userTag({ updatedAt }: User): string {
  return `"${updatedAt}"`
}

function find({ users }: Accounts, id: string): User {
  const user = users.get(id)
  if (user === undefined) throw notFound('User', id)
  return user
}

/** @param saved values for omitted members; without it they are required. */
function readFields(written: JsonObject, saved?: User): { email: string; role: Role } {
  const email = Object.hasOwn(written, 'email') ? ownMember(written, 'email') : saved?.email
  if (typeof email !== 'string' || email === '') throw badRequest('email is required')
  if (!isEmail(email)) throw badRequest('email is not an e-mail address')
  refuseUnknownMembers(written, MEMBERS)
  return { email, role: readRole(written, saved?.role) }
}

function refuseTaken(accounts: Accounts, email: string, ownId?: string): void {
  const other = accounts.userByEmail(email)
  if (other !== undefined && other.id !== ownId) throw new ApiError('conflict', 'email is already in use')
}

/** @throws ApiError 409 if no other user could manage users. */
function refuseLastAdmin({ users }: Accounts, id: string): void {
  if (![...users.values()].some((user) => user.role === 'admin' && user.id !== id)) {
    throw new ApiError('conflict', 'Last admin')
  }
}
