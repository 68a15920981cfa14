import { timingSafeEqual } from 'node:crypto'
import { type Clock, Deadlines } from '@millrace/std'
import { tokenDigest } from './access-tokens.ts'
import type { AccessToken, User } from './accounts.ts'
import type { AuditLog } from './audit/audit-log.ts'
import type { Author } from './author.ts'
import { FailureBrake } from './failure-brake.ts'
import { lowerRole, type Role } from './role.ts'
import type { Workspace } from './workspace.ts'

const MINUTE_MS = 60_000
const FAILURE_DELAY_MS = 1_000

/** Who makes a request. */
export interface Actor {
  readonly user: User
  readonly token: AccessToken
  /** The token's, but never above its user's. */
  readonly role: Role
}

/**
 * Finds out who makes a request, by `Bearer token`, `Basic email:token` or `Basic :token`.
 *
 * @see contracts/control-plane.md §2, test-api.md §2, decisions.md D7
 */
export class Authentication {
  readonly #workspace: Workspace
  readonly #audit: AuditLog
  readonly #clock: Clock
  readonly #brake: FailureBrake
  readonly #delays: Deadlines

  constructor(workspace: Workspace, audit: AuditLog) {
    this.#workspace = workspace
    this.#audit = audit
    this.#clock = workspace.clock
    this.#brake = new FailureBrake(workspace.clock)
    this.#delays = new Deadlines(workspace.clock, FAILURE_DELAY_MS)
  }

  /**
   * @param address where the request comes from: failures are counted by it.
   * @param requestId of the answer.
   * @returns undefined for whatever is not valid; late, when there were many failures.
   */
  async authenticate(
    authorization: string | undefined,
    address: string,
    requestId: string | null,
  ): Promise<Actor | undefined> {
    const actor = this.#find(authorization)
    if (actor === undefined) {
      // Whoever says nothing has not tried.
      if (authorization) this.#audit.signInFailed({ ...this.#suspect(authorization), address, requestId })
      if (this.#brake.fail(address)) await new Promise<void>((resolve) => this.#delays.start(resolve))
      return undefined
    }
    if (actor.token.lastUsedAt === null) {
      this.#audit.firstUse(authorOf(actor, address, requestId), actor.token.id)
    }
    const minute = Math.floor(this.#clock.now() / MINUTE_MS) * MINUTE_MS
    if (actor.token.lastUsedAt !== minute) await this.#workspace.noteTokenUse(actor.token.id, minute)
    return actor
  }

  /** Whether somebody who came in earlier could still come in: the token is neither revoked nor expired, its user there. */
  isCurrent({ token: { id, digest } }: Actor): boolean {
    const { accounts } = this.#workspace.state
    const token = accounts.tokens.get(id)
    if (token === undefined || token.digest !== digest || !accounts.users.has(token.userId)) return false
    return token.expiresAt === null || token.expiresAt > this.#clock.now()
  }

  close(): void {
    this.#delays.close()
  }

  /** Whose credentials they would have been; of what was sent only what we know already is told. */
  #suspect(authorization: string): Pick<Author, 'actor' | 'tokenName'> {
    const { accounts } = this.#workspace.state
    const { email, token } = parseCredentials(authorization) ?? { email: '', token: '' }
    const known = accounts.tokenByDigest(tokenDigest(token))
    const user = known === undefined ? accounts.userByEmail(email) : accounts.users.get(known.userId)
    return { actor: user?.email ?? 'unknown', tokenName: known?.name ?? null }
  }

  #find(authorization: string | undefined): Actor | undefined {
    const credentials = authorization === undefined ? undefined : parseCredentials(authorization)
    if (credentials === undefined) return undefined
    const { accounts } = this.#workspace.state
    const digest = tokenDigest(credentials.token)
    const token = accounts.tokenByDigest(digest)
    if (token === undefined || !areEqual(token.digest, digest)) return undefined
    if (token.expiresAt !== null && token.expiresAt <= this.#clock.now()) return undefined
    const user = accounts.users.get(token.userId)
    if (user === undefined) return undefined
    const { email } = credentials
    if (email !== '' && !areEqual(tokenDigest(email.toLowerCase()), tokenDigest(user.email.toLowerCase()))) {
      return undefined
    }
    return { user, token, role: lowerRole(token.role, user.role) }
  }
}

/** The one who makes a request, for the audit log. */
export function authorOf({ user, token }: Actor, address: string | null, requestId: string | null): Author {
  return { actor: user.email, tokenName: token.name, address, requestId }
}

interface Credentials {
  /** Empty when none was given. */
  readonly email: string
  readonly token: string
}

function parseCredentials(authorization: string): Credentials | undefined {
  const match = /^(Bearer|Basic) +(\S+) *$/i.exec(authorization)
  if (match === null) return undefined
  const [, scheme, value] = match as unknown as [string, string, string]
  if (scheme.toLowerCase() === 'bearer') return { email: '', token: value }
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return undefined
  const text = Buffer.from(value, 'base64').toString()
  // A token never holds a colon, an e-mail address may.
  const colon = text.lastIndexOf(':')
  return colon === -1 ? undefined : { email: text.slice(0, colon), token: text.slice(colon + 1) }
}

/** Of two digests as hex. */
function areEqual(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a, 'hex'), Buffer.from(b, 'hex'))
}
