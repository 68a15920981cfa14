import type { Audited } from '../audit/audit-entry.ts'
import { created, deleted, updated } from '../audit/audited.ts'
import { openDocument } from '../configuration/document-diff.ts'
import type { Change, Ownership } from '../workspace/change.ts'
import type { ChangeBase, Decision, Workspace } from '../workspace/workspace.ts'
import { newAccessToken, tokenDigest } from './access-tokens.ts'
import { type AccessToken, type User, userJson } from './accounts.ts'
import { MILLRACE } from './author.ts'
import { isEmail } from './email.ts'

const DEFAULT_EMAIL = 'owner@localhost'
const MAX_REPLACED = 100

/** The owner's settings in the environment. */
export interface OwnerSettings {
  /** MILLRACE_OWNER_EMAIL */
  readonly email?: string | undefined
  /** MILLRACE_OWNER_TOKEN */
  readonly token?: string | undefined
}

export interface Owner extends NamedOwner {
  /** Whether this start is the first. */
  readonly isNew: boolean
}

interface NamedOwner {
  readonly email: string
  /** A generated token that must be printed once, and then confirmed. */
  readonly tokenToPrint: string | undefined
  /** The given token was replaced by another process of the cluster: it stays invalid. */
  readonly isReplaced?: true
}

/** A setting that stops the start; the message contains the variable's name, never its value. */
export class OwnerSettingError extends Error {
  override readonly name = 'OwnerSettingError'
  readonly code = 'owner_setting'
}

/**
 * Creates the owner at the first start, and follows the variables at later ones.
 *
 * @throws OwnerSettingError
 * @see contracts/control-plane.md §3
 */
export async function ensureOwner(workspace: Workspace, settings: OwnerSettings): Promise<Owner> {
  judge(settings)
  let isNew = false
  const owner = await workspace.change(MILLRACE, (moment): Decision<NamedOwner> => {
    const { ownership, accounts } = moment
    isNew = ownership === undefined
    if (ownership === undefined) return firstStart(workspace, settings, moment)
    const changes: Change[] = []
    const user = accounts.users.get(ownership.userId)
    if (settings.token === undefined) {
      if (user === undefined || ownership.unprintedTokenId === null) {
        return nothing({ email: user?.email ?? DEFAULT_EMAIL, tokenToPrint: undefined })
      }
      const { accessToken, token } = newAccessToken(workspace, ownerToken(user), moment.at)
      changes.push(...removal(moment, ownership.unprintedTokenId), addition(accessToken))
      changes.push({ kind: 'ownership', value: { ...ownership, unprintedTokenId: accessToken.id } })
      return decision(moment, changes, { email: user.email, tokenToPrint: token })
    }
    // Compared with the earlier setting, not with the valid tokens: a revoked token stays revoked.
    if (ownership.given?.digest === tokenDigest(settings.token)) {
      return nothing({ email: user?.email ?? DEFAULT_EMAIL, tokenToPrint: undefined })
    }
    // A process that still has the setting of before, and starts again, must not undo the change.
    if (workspace.isShared && ownership.replaced?.includes(tokenDigest(settings.token))) {
      return nothing({ email: user?.email ?? DEFAULT_EMAIL, tokenToPrint: undefined, isReplaced: true })
    }
    const owner = user ?? newOwner(workspace, settings, moment)
    if (owner !== accounts.users.get(owner.id)) changes.push({ kind: 'user', id: owner.id, value: owner })
    if (ownership.given !== null) changes.push(...removal(moment, ownership.given.tokenId))
    if (ownership.unprintedTokenId !== null) changes.push(...removal(moment, ownership.unprintedTokenId))
    changes.push(...given(workspace, owner, settings.token, moment))
    return decision(moment, changes, { email: owner.email, tokenToPrint: undefined })
  })
  return { ...owner, isNew }
}

/** Call it after printing the generated token: later starts print none. */
export async function confirmOwnerTokenPrinted(workspace: Workspace): Promise<void> {
  await workspace.change(MILLRACE, ({ ownership }) => {
    if (ownership === undefined || ownership.unprintedTokenId === null) return nothing(undefined)
    const changes = [{ kind: 'ownership', value: { ...ownership, unprintedTokenId: null } }] as const
    return { changes, audit: [], result: undefined }
  })
}

/** Creates another token of the owner, for the program on this machine. @returns undefined if the owner was removed. */
export function newOwnerToken(workspace: Workspace, name: string): Promise<string | undefined> {
  return workspace.change(MILLRACE, ({ ownership, accounts, at }): Decision<string | undefined> => {
    const owner = ownership === undefined ? undefined : accounts.users.get(ownership.userId)
    if (owner === undefined) return nothing(undefined)
    const { accessToken, token } = newAccessToken(workspace, { ...ownerToken(owner), name }, at)
    return { changes: [addition(accessToken)], audit: [created('access-token', accessToken.id)], result: token }
  })
}

function judge({ email, token }: OwnerSettings): void {
  if (email !== undefined && !isEmail(email)) {
    throw new OwnerSettingError('MILLRACE_OWNER_EMAIL is not an e-mail address')
  }
  // Printable characters that a header can carry, except the colon, which ends the user name of Basic.
  if (token !== undefined && !/^[!-9;-~]{24,200}$/.test(token)) {
    throw new OwnerSettingError(
      'MILLRACE_OWNER_TOKEN must have 24 to 200 printable characters without spaces or colons',
    )
  }
}

function firstStart(workspace: Workspace, settings: OwnerSettings, moment: ChangeBase): Decision<NamedOwner> {
  const owner = newOwner(workspace, settings, moment)
  const changes: Change[] = [{ kind: 'user', id: owner.id, value: owner }]
  if (settings.token !== undefined) {
    changes.push(...given(workspace, owner, settings.token, moment))
    return decision(moment, changes, { email: owner.email, tokenToPrint: undefined })
  }
  const { accessToken, token } = newAccessToken(workspace, ownerToken(owner), moment.at)
  const ownership: Ownership = { userId: owner.id, given: null, unprintedTokenId: accessToken.id }
  changes.push(addition(accessToken), { kind: 'ownership', value: ownership })
  return decision(moment, changes, { email: owner.email, tokenToPrint: token })
}

/** Naming a removed owner again restores them: operators can always regain access to their own server. */
function newOwner(workspace: Workspace, { email = DEFAULT_EMAIL }: OwnerSettings, { accounts, at }: ChangeBase): User {
  const known = accounts.userByEmail(email)
  if (known !== undefined) return known.role === 'admin' ? known : { ...known, role: 'admin', updatedAt: at }
  return { id: workspace.newId(at), email, role: 'admin', createdAt: at, updatedAt: at }
}

function given(workspace: Workspace, owner: User, token: string, moment: ChangeBase): Change[] {
  const { accounts, at, ownership: before } = moment
  const { accessToken } = newAccessToken(workspace, ownerToken(owner), at, token)
  const replaced = [...(before?.given ? [before.given.digest] : []), ...(before?.replaced ?? [])]
  const ownership: Ownership = {
    userId: owner.id,
    given: { digest: accessToken.digest, tokenId: accessToken.id },
    replaced: replaced.slice(0, MAX_REPLACED),
    unprintedTokenId: null,
  }
  const namesake = accounts.tokenByDigest(accessToken.digest)
  const changes: Change[] = namesake === undefined ? [] : [{ kind: 'access-token', id: namesake.id, value: undefined }]
  return [...changes, addition(accessToken), { kind: 'ownership', value: ownership }]
}

function ownerToken({ id }: User) {
  return { userId: id, name: 'Owner', role: 'admin', expiresAt: null } as const
}

function addition(token: AccessToken): Change {
  return { kind: 'access-token', id: token.id, value: token }
}

function removal({ accounts }: ChangeBase, tokenId: string): Change[] {
  return accounts.tokens.has(tokenId) ? [{ kind: 'access-token', id: tokenId, value: undefined }] : []
}

function nothing<T>(result: T): Decision<T> {
  return { changes: [], audit: [], result }
}

function decision({ accounts }: ChangeBase, changes: readonly Change[], result: NamedOwner): Decision<NamedOwner> {
  const audit = changes.flatMap((change): Audited[] => {
    if (change.kind !== 'user' && change.kind !== 'access-token') return []
    const { kind, id, value } = change
    if (value === undefined) return [deleted(kind, id)]
    const before = kind === 'user' ? accounts.users.get(id) : undefined
    if (before === undefined || kind !== 'user') return [created(kind, id)]
    return [updated(kind, id, openDocument(userJson(before)), openDocument(userJson(value)))]
  })
  return { changes, audit, result }
}
