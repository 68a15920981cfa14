import type { Clock } from '@millrace/std'
import type { OutboundCall, OutboundRequest, OutboundResult } from '../outbound-request.ts'
import type { IdentifiedGrant } from './outbound-credentials.ts'
import { type TokenAnswer, tokenAnswer } from './token-answer.ts'
import { tokenRequest } from './token-request.ts'

/**
 * Sends a request by the client of the destination that needs the token: tokens share no connection either. Always the same
 * function for one client.
 */
export type Send = (request: OutboundRequest, onDone: (result: OutboundResult) => void) => OutboundCall

export interface AccessTokensOptions {
  readonly clock: Clock
  /** Default 1,000; the least recently used one goes first. */
  readonly maxTokens?: number
}

const MAX_TOKENS = 1_000
/** So long before its end a token is replaced, or at half its life if that is later. */
const REFRESH_BEFORE_END_MS = 60_000
/** After a failure, while the old token is still good. */
const REFRESH_AGAIN_MS = 5_000

interface Entry {
  token: string | undefined
  /** By the monotonic clock; Infinity if the endpoint gave no end. */
  endsAt: number
  refreshAt: number
  waiting: Set<Waiting>
  isFetching: boolean
}

interface Waiting {
  readonly send: Send
  readonly onAnswer: (answer: TokenAnswer) => void
}

/**
 * The access tokens of all destinations of this process, by the credentials that obtain them: a changed configuration never
 * finds the token of the former one. However many calls wait, one request for a token is under way.
 *
 * @see contracts/delivery.md §2a [D649]
 */
export class OAuthTokens {
  readonly #clock: Clock
  readonly #maxTokens: number
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>()

  constructor({ clock, maxTokens = MAX_TOKENS }: AccessTokensOptions) {
    this.#clock = clock
    this.#maxTokens = maxTokens
  }

  get size(): number {
    return this.#entries.size
  }

  /** The token in hand; undefined if there is none that is good. One that ends soon is replaced meanwhile. */
  current(grant: IdentifiedGrant, send: Send): string | undefined {
    const entry = this.#entries.get(grant.id)
    if (entry?.token === undefined) return undefined
    const now = this.#clock.monotonic()
    if (now >= entry.endsAt) return undefined
    this.#touch(grant.id, entry)
    if (now >= entry.refreshAt && !entry.isFetching) {
      entry.refreshAt = now + REFRESH_AGAIN_MS
      this.#fetch(grant, entry, send)
    }
    return entry.token
  }

  /** Waits for a token. @param onAnswer called once, never before this has returned, and not after an `abort`. */
  wait(grant: IdentifiedGrant, send: Send, onAnswer: Waiting['onAnswer']): OutboundCall {
    const entry = this.#entries.get(grant.id) ?? newEntry()
    this.#touch(grant.id, entry)
    const waiting: Waiting = { send, onAnswer }
    entry.waiting.add(waiting)
    if (!entry.isFetching) this.#fetch(grant, entry, send)
    return { abort: () => void entry.waiting.delete(waiting) }
  }

  /** Forgets a token that a destination refuses; not one that has replaced it since. */
  drop({ id }: IdentifiedGrant, token: string): void {
    const entry = this.#entries.get(id)
    if (entry?.token === token) entry.token = undefined
  }

  #fetch(grant: IdentifiedGrant, entry: Entry, send: Send): void {
    entry.isFetching = true
    send(tokenRequest(grant), (result) => {
      entry.isFetching = false
      if (result.kind === 'aborted') {
        // That client was closed, and ends its own calls; another destination or test with these credentials may still wait.
        const next = entry.waiting.values().find((waiting) => waiting.send !== send)
        if (next !== undefined) this.#fetch(grant, entry, next.send)
        return
      }
      const answer = tokenAnswer(result)
      if ('token' in answer) this.#keep(entry, answer)
      const waiting = [...entry.waiting]
      entry.waiting.clear()
      for (const { onAnswer } of waiting) onAnswer(answer)
    })
  }

  #keep(entry: Entry, { token, lifetimeMs = Number.POSITIVE_INFINITY }: Extract<TokenAnswer, { token: string }>): void {
    const now = this.#clock.monotonic()
    entry.token = token
    entry.endsAt = now + lifetimeMs
    entry.refreshAt = entry.endsAt - Math.min(REFRESH_BEFORE_END_MS, lifetimeMs / 2)
  }

  #touch(id: string, entry: Entry): void {
    this.#entries.delete(id)
    this.#entries.set(id, entry)
    if (this.#entries.size > this.#maxTokens) this.#entries.delete(this.#entries.keys().next().value!)
  }
}

function newEntry(): Entry {
  return { token: undefined, endsAt: 0, refreshAt: 0, waiting: new Set(), isFetching: false }
}
