import { createHash, randomBytes } from 'node:crypto'
import type { Authorization } from '@millrace/protocol'
import type { Clock } from '@millrace/std'

/** How long a person has at the page of the service. */
export const AUTHORIZATION_VALID_MS = 10 * 60_000
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
  /** Secrets of its configuration, which are masked in answers: a service may quote what it was sent. */
  readonly secrets: readonly string[]
}

/** Keeps authorizations under way, for ten minutes and at most a thousand: the oldest are forgotten. */
export interface PendingAuthorizations {
  put(state: string, pending: PendingAuthorization): Promise<void>
  /** Takes one out, once. Undefined: the state is unknown, used or too old, or of another person. */
  take(state: string, actorId: string): Promise<PendingAuthorization | undefined>
}

/** @returns the address to send the person to, and the state by which they come back. */
export async function beginAuthorization(
  given: Omit<PendingAuthorization, 'verifier'>,
  pending: PendingAuthorizations,
): Promise<{ url: string; state: string }> {
  const [state, verifier] = [secret(), secret()]
  await pending.put(state, { ...given, verifier })
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
  return { url: url.href, state }
}

interface Entry {
  readonly pending: PendingAuthorization
  readonly endsAt: number
}

/** In memory, for a single process: after a restart a person starts again. */
export class LocalAuthorizations implements PendingAuthorizations {
  readonly #clock: Clock
  /** By state, oldest first. */
  readonly #entries = new Map<string, Entry>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async put(state: string, pending: PendingAuthorization): Promise<void> {
    this.#forgetOld()
    this.#entries.set(state, { pending, endsAt: this.#clock.monotonic() + AUTHORIZATION_VALID_MS })
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > MAX_PENDING) this.#entries.delete(oldest!)
  }

  async take(state: string, actorId: string): Promise<PendingAuthorization | undefined> {
    this.#forgetOld()
    const entry = this.#entries.get(state)
    if (entry?.pending.actorId !== actorId) return undefined
    this.#entries.delete(state)
    return entry.pending
  }

  #forgetOld(): void {
    const now = this.#clock.monotonic()
    for (const [state, { endsAt }] of this.#entries) {
      if (endsAt > now) return
      this.#entries.delete(state)
    }
  }
}

function secret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}
