import type { Clock } from '@millrace/std'
import type { TokenAnswer } from './token-answer.ts'

/** The tokens of a process whose delivery threads need the same ones. Arguments and results cross by structured clone. */
export interface SharedTokens {
  /**
   * Resolves with the token that another thread has, or with the answer that it gets.
   *
   * @param known the token that the caller wants to replace.
   * @returns undefined: the caller is to request one, and must call `put`.
   */
  take(request: { readonly grantId: string; readonly known: string | undefined }): Promise<TokenAnswer | undefined>
  /** @param answer undefined: the request was aborted; another caller requests a token. */
  put(result: { readonly grantId: string; readonly answer: TokenAnswer | undefined }): void
}

interface Shared {
  token: string | undefined
  /** By the monotonic clock; Infinity if the endpoint gave no end. */
  endsAt: number
  isRequested: boolean
  waiting: ((answer: TokenAnswer | undefined) => void)[]
}

const MAX_TOKENS = 1_000

/**
 * Keeps one token for each credentials of a process, and has one caller at a time request it.
 *
 * @see contracts/delivery.md §2a [D649]
 */
export class TokenExchange implements SharedTokens {
  readonly #clock: Clock
  readonly #maxTokens: number
  /** Least recently used first. */
  readonly #tokens = new Map<string, Shared>()

  constructor({ clock, maxTokens = MAX_TOKENS }: { readonly clock: Clock; readonly maxTokens?: number }) {
    this.#clock = clock
    this.#maxTokens = maxTokens
  }

  async take({ grantId, known }: Parameters<SharedTokens['take']>[0]): Promise<TokenAnswer | undefined> {
    const shared = this.#tokens.get(grantId) ?? { token: undefined, endsAt: 0, isRequested: false, waiting: [] }
    this.#touch(grantId, shared)
    const { token, endsAt } = shared
    const lifetimeMs = endsAt - this.#clock.monotonic()
    if (token !== undefined && token !== known && lifetimeMs > 0) {
      return { token, lifetimeMs: lifetimeMs === Number.POSITIVE_INFINITY ? undefined : lifetimeMs }
    }
    if (shared.isRequested) return new Promise((resolve) => shared.waiting.push(resolve))
    shared.isRequested = true
    return undefined
  }

  put({ grantId, answer }: Parameters<SharedTokens['put']>[0]): void {
    const shared = this.#tokens.get(grantId)
    if (shared === undefined) return
    if (answer === undefined) {
      const next = shared.waiting.shift()
      shared.isRequested = next !== undefined
      next?.(undefined)
      return
    }
    shared.isRequested = false
    if ('token' in answer) {
      shared.token = answer.token
      shared.endsAt = this.#clock.monotonic() + (answer.lifetimeMs ?? Number.POSITIVE_INFINITY)
    }
    const { waiting } = shared
    shared.waiting = []
    for (const resolve of waiting) resolve(answer)
  }

  #touch(grantId: string, shared: Shared): void {
    this.#tokens.delete(grantId)
    this.#tokens.set(grantId, shared)
    if (this.#tokens.size <= this.#maxTokens) return
    // One that is being requested has callers that wait.
    const oldest = this.#tokens.entries().find(([, { isRequested }]) => !isRequested)
    if (oldest !== undefined) this.#tokens.delete(oldest[0])
  }
}
