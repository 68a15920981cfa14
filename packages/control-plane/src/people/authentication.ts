import { timingSafeEqual } from 'node:crypto'
import { type Clock, Deadlines } from '@millrace/std'
import type { AuditLog } from '../audit/audit-log.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { tokenDigest } from './access-tokens.ts'
import type { AccessToken, Session } from './accounts.ts'
import type { Actor } from './actor.ts'
import type { Author } from './author.ts'
import { FailureBrake } from './failure-brake.ts'
import { lowerRole } from './role.ts'
import { isOver } from './sessions.ts'
import { type RefusedSignIns, SignInLimit } from './sign-in-limit.ts'

const MINUTE_MS = 60_000
const FAILURE_DELAY_MS = 1_000

/** The two halves of a session in a request. */
export interface SessionHalves {
  readonly cookie: string
  readonly half: string
}

/** The credentials in a request. */
export interface Claim {
  /** The Authorization header. */
  readonly authorization?: string | undefined
  /** Read only without that header. */
  readonly session?: SessionHalves | undefined
}

/** E-mail address and token of a sign-in. */
export interface SignIn {
  readonly email: string
  readonly token: string
}

/**
 * Identifies the author of a request by `Bearer token`, `Basic email:token`, `Basic :token`, or both halves of a
 * session.
 *
 * @see contracts/control-plane.md §2, test-api.md §2, dashboard.md §4 N2 [D7]
 */
export class Authentication {
  readonly #workspace: Workspace
  readonly #audit: AuditLog
  readonly #clock: Clock
  readonly #brake: FailureBrake
  readonly #delays: Deadlines
  readonly #signIns: SignInLimit

  constructor(workspace: Workspace, audit: AuditLog) {
    this.#workspace = workspace
    this.#audit = audit
    this.#clock = workspace.clock
    this.#brake = new FailureBrake(workspace.clock)
    this.#delays = new Deadlines(workspace.clock, FAILURE_DELAY_MS)
    this.#signIns = new SignInLimit(workspace.clock)
  }

  /**
   * @param address of the client: failures are counted by it.
   * @param requestId of the answer.
   * @returns undefined for invalid credentials; delayed after many failures.
   */
  async authenticate(
    { authorization, session }: Claim,
    address: string,
    requestId: string | null,
  ): Promise<Actor | undefined> {
    if (authorization) return this.signIn(parseCredentials(authorization) ?? NOBODY, address, requestId)
    // A request without credentials is no attempt, and a session may end during work.
    const actor = session && this.#findBySession(session)
    if (actor === undefined) return this.#fail(address)
    await this.#noteUse(actor, address, requestId)
    return actor
  }

  /**
   * Like `signIn`, for a session of the dashboard. @throws ApiError 429 after too many wrong attempts of the address.
   */
  async beginSession(credentials: SignIn, address: string, requestId: string | null): Promise<Actor | undefined> {
    // Checks and counts before it waits: parallel attempts count.
    this.#signIns.check(address)
    if (this.#findByToken(credentials) === undefined) this.#signIns.noteWrong(address)
    return this.signIn(credentials, address, requestId)
  }

  refusedSignIns(): RefusedSignIns {
    return this.#signIns.refused()
  }

  /** Finds the user of a token. @param credentials the e-mail may be empty. */
  async signIn(credentials: SignIn, address: string, requestId: string | null): Promise<Actor | undefined> {
    const actor = this.#findByToken(credentials)
    if (actor === undefined) {
      this.#audit.signInFailed({ ...this.#suspect(credentials), address, requestId })
      return this.#fail(address)
    }
    await this.#noteUse(actor, address, requestId)
    return actor
  }

  /**
   * An earlier author as of now, with the role of now.
   *
   * @returns undefined if the token was revoked or has expired, the session has ended, or the user was removed.
   */
  current({ token: { id, digest }, session: earlier }: Actor): Actor | undefined {
    const { accounts } = this.#workspace.state
    const token = accounts.tokens.get(id)
    const session = earlier === null ? null : accounts.sessions.get(earlier.id)
    return token?.digest === digest && session !== undefined ? this.#actorOf(token, session) : undefined
  }

  close(): void {
    this.#delays.close()
  }

  async #fail(address: string): Promise<undefined> {
    if (this.#brake.fail(address)) await new Promise<void>((resolve) => this.#delays.start(resolve))
  }

  async #noteUse(actor: Actor, address: string, requestId: string | null): Promise<void> {
    if (actor.token.lastUsedAt === null) {
      this.#audit.firstUse(authorOf(actor, address, requestId), actor.token.id)
    }
    const minute = Math.floor(this.#clock.now() / MINUTE_MS) * MINUTE_MS
    if (actor.token.lastUsedAt !== minute) await this.#workspace.noteTokenUse(actor.token.id, minute)
    const { session } = actor
    const now = this.#clock.now()
    if (session !== null && now - session.lastUsedAt >= MINUTE_MS) await this.#workspace.noteSessionUse(session.id, now)
  }

  /** The author of failed credentials; the entry contains only values that the server knows already. */
  #suspect({ email, token }: SignIn): Pick<Author, 'actor' | 'tokenName'> {
    const { accounts } = this.#workspace.state
    const known = accounts.tokenByDigest(tokenDigest(token))
    const user = known === undefined ? accounts.userByEmail(email) : accounts.users.get(known.userId)
    return { actor: user?.email ?? 'unknown', tokenName: known?.name ?? null }
  }

  #findByToken({ email, token: value }: SignIn): Actor | undefined {
    const { accounts } = this.#workspace.state
    const digest = tokenDigest(value)
    const token = accounts.tokenByDigest(digest)
    if (token === undefined || !areEqual(token.digest, digest)) return undefined
    const actor = this.#actorOf(token, null)
    if (actor === undefined || email === '') return actor
    const known = tokenDigest(actor.user.email.toLowerCase())
    return areEqual(tokenDigest(email.toLowerCase()), known) ? actor : undefined
  }

  #findBySession({ cookie, half }: SessionHalves): Actor | undefined {
    const { accounts } = this.#workspace.state
    const digest = tokenDigest(cookie)
    const session = accounts.sessionByCookie(digest)
    if (session === undefined || !areEqual(session.cookieDigest, digest)) return undefined
    if (!areEqual(session.halfDigest, tokenDigest(half))) return undefined
    const token = accounts.tokens.get(session.tokenId)
    return token && this.#actorOf(token, session)
  }

  /** @returns undefined if the token or the session has ended, or the user was removed. */
  #actorOf(token: AccessToken, session: Session | null): Actor | undefined {
    const user = this.#workspace.state.accounts.users.get(token.userId)
    const now = this.#clock.now()
    const isEnded =
      session === null ? now >= (token.expiresAt ?? Number.POSITIVE_INFINITY) : isOver(session, token, now)
    if (user === undefined || isEnded) return undefined
    return { user, token, role: lowerRole(token.role, user.role), session }
  }
}

/** The author of a request, for the audit log. */
export function authorOf({ user, token }: Actor, address: string | null, requestId: string | null): Author {
  return { actor: user.email, tokenName: token.name, address, requestId, tokenId: token.id }
}

const NOBODY: SignIn = { email: '', token: '' }

/** @returns an empty e-mail if there is none. */
function parseCredentials(authorization: string): SignIn | undefined {
  const match = /^(Bearer|Basic) +(\S+) *$/i.exec(authorization)
  if (match === null) return undefined
  const [, scheme, value] = match as unknown as [string, string, string]
  if (scheme.toLowerCase() === 'bearer') return { email: '', token: value }
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return undefined
  const text = Buffer.from(value, 'base64').toString()
  // A token never contains a colon, but an e-mail address may.
  const colon = text.lastIndexOf(':')
  return colon === -1 ? undefined : { email: text.slice(0, colon), token: text.slice(colon + 1) }
}

/** Compares two digests in hex. */
function areEqual(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a, 'hex'), Buffer.from(b, 'hex'))
}
