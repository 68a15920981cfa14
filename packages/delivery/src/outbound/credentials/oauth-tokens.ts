import type { Clock } from '@millrace/std'
import type { OutboundCall, OutboundRequest, OutboundResult } from '../outbound-request.ts'
import type { IdentifiedGrant } from './outbound-credentials.ts'
import { type TokenAnswer, tokenAnswer } from './token-answer.ts'
import type { SharedTokens } from './token-exchange.ts'
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
  /** Where other threads have the same destinations: one of them requests a token for all. */
  readonly shared?: SharedTokens | undefined
}

const MAX_TOKENS = 1_000
/** So long before its end a token is replaced, or at half its life if that is later. */
const REFRESH_BEFORE_END_MS = 60_000
/** After a failure, while the old token is still good. */
const REFRESH_AGAIN_MS = 5_000

interface Entry {
  token: string | undefined
  /** The last one that it had, also if a destination refused it. */
  last: string | undefined
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
 * The access tokens of the destinations of this thread, by the credentials that obtain them: a changed configuration never
 * finds the token of the former one. However many calls wait, one request for a token is under way.
 *
 * @see contracts/delivery.md §2a [D649]
 */
export class OAuthTokens {
  readonly #clock: Clock
  readonly #maxTokens: number
  readonly #shared: SharedTokens | undefined
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>()

  constructor({ clock, maxTokens = MAX_TOKENS, shared }: AccessTokensOptions) {
    this.#clock = clock
    this.#maxTokens = maxTokens
    this.#shared = shared
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
    if (this.#shared === undefined) {
      this.#request(grant, entry, send)
      return
    }
    const request = () => this.#request(grant, entry, send)
    this.#shared.take({ grantId: grant.id, known: entry.last }).then((answer) => {
      if (answer === undefined) request()
      else this.#answered(entry, answer)
      // Without the other threads, this one has its own token.
    }, request)
  }

  #request(grant: IdentifiedGrant, entry: Entry, send: Send): void {
    send(tokenRequest(grant), (result) => {
      const answer = result.kind === 'aborted' ? undefined : tokenAnswer(result)
      this.#shared?.put({ grantId: grant.id, answer })
      if (answer !== undefined) {
        this.#answered(entry, answer)
        return
      }
      entry.isFetching = false
      // That client was closed, and ends its own calls; another destination or test with these credentials may still wait.
      const next = entry.waiting.values().find((waiting) => waiting.send !== send)
      if (next !== undefined) this.#fetch(grant, entry, next.send)
    })
  }

  #answered(entry: Entry, answer: TokenAnswer): void {
    entry.isFetching = false
    if ('token' in answer) this.#keep(entry, answer)
    const waiting = [...entry.waiting]
    entry.waiting.clear()
    for (const { onAnswer } of waiting) onAnswer(answer)
  }

  #keep(entry: Entry, { token, lifetimeMs = Number.POSITIVE_INFINITY }: Extract<TokenAnswer, { token: string }>): void {
    const now = this.#clock.monotonic()
    entry.token = entry.last = token
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
  return { token: undefined, last: undefined, endsAt: 0, refreshAt: 0, waiting: new Set(), isFetching: false }
}
