import { createHash, randomBytes } from 'node:crypto'
import type { Masking } from '@millrace/destinations'
import type { Authorization } from '@millrace/protocol'
import type { Clock } from '@millrace/std'

const VALID_MS = 10 * 60_000
const MAX_PENDING = 1_000
const SECRET_BYTES = 32

/** An authorization that a person was sent to a service for, and has not come back from. */
export interface PendingAuthorization {
  readonly authorization: Authorization
  readonly redirectUri: string
  readonly verifier: string
  /** Who began it; nobody else can finish it. */
  readonly actorId: string
  /** As `OutboundRequest.configuredOrigin`, for the token endpoint. */
  readonly tokenOrigin: string | undefined
  /** Of the secrets of its configuration: a service may quote what it was sent. */
  readonly masking: Pick<Masking, 'text'>
}

interface Entry extends PendingAuthorization {
  readonly endsAt: number
}

/** Authorizations under way, in memory: after a restart a person starts again. Full, the oldest is forgotten. */
export class Authorizations {
  readonly #clock: Clock
  /** By state, oldest first. */
  readonly #pending = new Map<string, Entry>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @returns the address to send the person to, and the state by which they come back. */
  begin(given: Omit<PendingAuthorization, 'verifier'>): { url: string; state: string; expiresAt: number } {
    this.#forgetOld()
    const [state, verifier] = [secret(), secret()]
    this.#pending.set(state, { ...given, verifier, endsAt: this.#clock.monotonic() + VALID_MS })
    const [oldest] = this.#pending.keys()
    if (this.#pending.size > MAX_PENDING) this.#pending.delete(oldest!)
    const { authorizeUrl, clientId, scope, params } = given.authorization
    const url = new URL(authorizeUrl)
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const own = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: given.redirectUri,
      scope,
      state,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries({ ...params, ...own })) url.searchParams.set(name, value)
    return { url: url.href, state, expiresAt: this.#clock.now() + VALID_MS }
  }

  /** Takes an authorization, once. Undefined: the state is unknown, used or too old, or of another person. */
  take(state: string, actorId: string): PendingAuthorization | undefined {
    this.#forgetOld()
    const entry = this.#pending.get(state)
    if (entry?.actorId !== actorId) return undefined
    this.#pending.delete(state)
    return entry
  }

  #forgetOld(): void {
    const now = this.#clock.monotonic()
    for (const [state, { endsAt }] of this.#pending) {
      if (endsAt > now) return
      this.#pending.delete(state)
    }
  }
}

function secret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}
