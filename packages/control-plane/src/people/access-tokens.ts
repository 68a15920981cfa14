import { createHash } from 'node:crypto'
import { ApiError, badRequest, notFound, refuseUnknownMembers } from '@millrace/openapi'
import { base62, type JsonObject, ownMember, parseTime } from '@millrace/protocol'
import { created, deleted } from '../audit/audited.ts'
import { type Condition, refuseUnlessTagged } from '../resources/resource-service.ts'
import { membersOf, readName, readRole } from '../resources/written-fields.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { ACCESS_TOKEN_WRITTEN } from './account-schemas.ts'
import type { AccessToken, User } from './accounts.ts'
import type { Actor } from './actor.ts'
import type { Author } from './author.ts'
import { isAtLeast, lowerRole } from './role.ts'

const MEMBERS = membersOf(ACCESS_TOKEN_WRITTEN)

/** A new token; its value is known only here and now. */
export interface NewAccessToken {
  readonly accessToken: AccessToken
  readonly token: string
}

/** Personal access tokens: each user manages their own, an admin all. @see contracts/control-plane.md §2, §7 */
export class AccessTokens {
  readonly #workspace: Workspace

  constructor(workspace: Workspace) {
    this.#workspace = workspace
  }

  /** Ordered by creation. */
  list(actor: Actor): AccessToken[] {
    const { tokens } = this.#workspace.state.accounts
    return [...tokens.values()].filter((token) => mayManage(actor, token))
  }

  userOf({ userId }: AccessToken): User {
    return this.#workspace.state.accounts.users.get(userId)!
  }

  /** Creates a token for the author, with at most the role and the lifetime of the request's token. */
  create(by: Author, actor: Actor, written: JsonObject): Promise<NewAccessToken> {
    return this.#workspace.change(by, ({ at }) => {
      const name = readName(written, undefined)
      refuseUnknownMembers(written, MEMBERS)
      const role = readRole(written, undefined)
      const asked = readExpiry(written, this.#workspace.clock.now())
      const expiresAt = earlierEnd(asked, actor.token.expiresAt)
      if (!isAtLeast(actor.role, role)) throw new ApiError('forbidden', 'Forbidden')
      const { accessToken, token } = newAccessToken(
        this.#workspace,
        { userId: actor.user.id, name, role, expiresAt },
        at,
      )
      return {
        changes: [{ kind: 'access-token', id: accessToken.id, value: accessToken }],
        audit: [created('access-token', accessToken.id)],
        result: { accessToken, token },
      }
    })
  }

  /** @throws ApiError 404 also for another user's token that the author must not see; 403 for one of a higher role. */
  remove(by: Author, actor: Actor, id: string, { ifMatch }: Condition = {}): Promise<void> {
    return this.#workspace.change(by, ({ accounts }) => {
      const token = accounts.tokens.get(id)
      if (token === undefined || !mayManage(actor, token)) throw notFound('Access token', id)
      if (!mayRevoke(actor, token)) throw new ApiError('forbidden', 'Forbidden')
      refuseUnlessTagged(accessTokenTag(token), ifMatch)
      const changes = [{ kind: 'access-token', id, value: undefined }] as const
      return { changes, audit: [deleted('access-token', id)], result: undefined }
    })
  }
}

/** A token changes only in its last use, and no client edits it. */
export function accessTokenTag({ createdAt }: AccessToken): string {
  return `"${createdAt}"`
}

/** SHA-256, as hex: tokens have too many possible values for a search. */
export function tokenDigest(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** @param token its value; generated if absent. */
export function newAccessToken(
  workspace: Pick<Workspace, 'newId' | 'random'>,
  fields: Pick<AccessToken, 'userId' | 'name' | 'role' | 'expiresAt'>,
  at: number,
  token = `mr_pat_${base62(workspace.random(38), 40)}`,
): NewAccessToken {
  const accessToken = {
    id: workspace.newId(at),
    ...fields,
    digest: tokenDigest(token),
    createdAt: at,
    lastUsedAt: null,
  }
  return { accessToken, token }
}

function mayManage({ role, user }: Actor, token: AccessToken): boolean {
  return role === 'admin' || token.userId === user.id
}

/** Whether a token that may be managed is the one of the request, or can do no more than that. */
function mayRevoke({ role, user, token: own }: Actor, token: AccessToken): boolean {
  return role === 'admin' || token.id === own.id || isAtLeast(role, lowerRole(token.role, user.role))
}

/** null: never. */
function earlierEnd(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b)
}

function readExpiry(written: JsonObject, now: number): number | null {
  const value = ownMember(written, 'expiresAt') ?? null
  if (value === null) return null
  const expiresAt = parseTime(value)
  if (expiresAt === undefined) throw badRequest('expiresAt must be a time')
  if (expiresAt <= now) throw badRequest('expiresAt must be in the future')
  return expiresAt
}
