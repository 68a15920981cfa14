import { created, deleted } from '../audit/audited.ts'
import { unauthorized } from '../refusals.ts'
import type { Change } from '../workspace/change.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { tokenDigest } from './access-tokens.ts'
import type { AccessToken, Session } from './accounts.ts'
import type { Actor } from './actor.ts'
import type { Author } from './author.ts'

const HOUR_MS = 3_600_000
const IDLE_MS = 12 * HOUR_MS
/** Also Max-Age of the cookie. */
export const SESSION_MS = 7 * 24 * HOUR_MS
const MAX_SESSIONS = 1_000

/** A new session; its halves are known only here and now. */
export interface NewSession {
  readonly session: Session
  /** For the cookie. */
  readonly cookie: string
  /** For the header. */
  readonly half: string
}

/**
 * Sessions of the dashboard, at most 1,000: a further one ends the session with the oldest use.
 *
 * @see contracts/dashboard.md §4 N2
 */
export class Sessions {
  readonly #workspace: Workspace

  constructor(workspace: Workspace) {
    this.#workspace = workspace
  }

  /** Stored sessions; some may have expired. */
  get count(): number {
    return this.#workspace.state.accounts.sessions.size
  }

  /** Begins a session for the given token. */
  create(by: Author, { token }: Actor): Promise<NewSession> {
    return this.#workspace.change(by, ({ accounts, at }) => {
      const now = this.#workspace.clock.now()
      const isLasting = (session: Session) => !isOver(session, accounts.tokens.get(session.tokenId), now)
      const all = [...accounts.sessions.values()]
      const lasting = all.filter(isLasting).sort((a, b) => a.lastUsedAt - b.lastUsedAt)
      const surplus = lasting.slice(0, Math.max(0, lasting.length + 1 - MAX_SESSIONS))
      const [cookie, half] = [this.#secret(), this.#secret()]
      const session: Session = {
        id: this.#workspace.newId(at),
        tokenId: token.id,
        cookieDigest: tokenDigest(cookie),
        halfDigest: tokenDigest(half),
        createdAt: now,
        lastUsedAt: now,
      }
      const gone = [...all.filter((each) => !isLasting(each)), ...surplus]
      const changes: Change[] = gone.map(({ id }) => ({ kind: 'session', id, value: undefined }))
      changes.push({ kind: 'session', id: session.id, value: session })
      const audit = [...surplus.map(({ id }) => deleted('session', id)), created('session', session.id)]
      return { changes, audit, result: { session, cookie, half } }
    })
  }

  remove(by: Author, { id }: Session): Promise<void> {
    return this.#workspace.change(by, ({ accounts }) => {
      if (!accounts.sessions.has(id)) throw unauthorized()
      const changes = [{ kind: 'session', id, value: undefined }] as const
      return { changes, audit: [deleted('session', id)], result: undefined }
    })
  }

  /** 43 characters of base64url. */
  #secret(): string {
    return Buffer.from(this.#workspace.random(32)).toString('base64url')
  }
}

/** Its end, even with constant use. */
export function sessionEnd({ createdAt }: Session, { expiresAt }: AccessToken): number {
  return Math.min(createdAt + SESSION_MS, expiresAt ?? Number.POSITIVE_INFINITY)
}

/** @param token of the session; undefined if it was removed. */
export function isOver(session: Session, token: AccessToken | undefined, now: number): boolean {
  if (token === undefined || now >= sessionEnd(session, token)) return true
  // Uses are stored once a minute: a session ends half a day after the last use, or up to a minute earlier.
  return now - session.lastUsedAt >= IDLE_MS
}
