import type { Clock } from '@millrace/std'
import { Queue } from '@millrace/std'
import type { TransformAnswer, TransformFetch } from '../fetch.ts'
import { MAX_OPEN_FETCH_BYTES } from '../limits.ts'
import type { FetchRequest } from './child-messages.ts'

/** Requests of one run that are under way, or answered and not taken, at a time; the others wait. */
const MAX_CONCURRENT = 20

interface FetchAnswer {
  readonly id: number
  readonly answer: TransformAnswer
}

/** What one run asks of the network. Disposing it ends what is under way. */
export class RunNetwork implements Disposable {
  readonly #fetch: TransformFetch | undefined
  readonly #over = new AbortController()
  readonly #signal: AbortSignal
  /** At most 20 × the events of a batch. */
  readonly #waiting = new Queue<FetchRequest>()
  #underWay = 0
  /** Of requests that wait or are under way. */
  #openChars = 0
  #answers: FetchAnswer[] = []
  #onAnswer: (() => void) | undefined

  /** @param fetch undefined when the operator has switched it off. */
  constructor(fetch: TransformFetch | undefined, signal: AbortSignal) {
    this.#fetch = fetch
    this.#signal = AbortSignal.any([this.#over.signal, signal])
    this.#signal.addEventListener('abort', () => this.#onAnswer?.())
  }

  begin(requests: readonly FetchRequest[]): void {
    for (const request of requests) {
      if (this.#openChars + request.chars > MAX_OPEN_FETCH_BYTES) {
        this.#answers.push({ id: request.id, answer: { ok: false, message: 'too many fetch calls' } })
        continue
      }
      this.#openChars += request.chars
      this.#waiting.addLast(request)
    }
    // Answers that the child has not taken yet count as well: they are what needs memory.
    while (this.#underWay + this.#answers.length < MAX_CONCURRENT && this.#waiting.length > 0) {
      void this.#do(this.#waiting.takeFirst()!)
    }
  }

  /** Those that have come, at least one. @returns undefined when none came in time, or none is on its way. */
  async answers(clock: Clock, withinMs: number): Promise<readonly FetchAnswer[] | undefined> {
    if (this.#answers.length === 0 && this.#underWay > 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = clock.setTimer(resolve, Math.max(0, withinMs))
      this.#onAnswer = resolve
      if (!this.#signal.aborted) await promise
      this.#onAnswer = undefined
      timer.cancel()
    }
    const answers = this.#answers
    this.#answers = []
    this.begin([])
    return answers.length === 0 ? undefined : answers
  }

  [Symbol.dispose](): void {
    this.#over.abort()
  }

  async #do({ id, request, chars }: FetchRequest): Promise<void> {
    this.#underWay++
    const answer = await this.#answer(request)
    this.#underWay--
    this.#openChars -= chars
    this.#answers.push({ id, answer })
    this.begin([])
    this.#onAnswer?.()
  }

  async #answer(request: FetchRequest['request']): Promise<TransformAnswer> {
    if (this.#signal.aborted) return { ok: false, message: 'aborted' }
    if (this.#fetch === undefined) return { ok: false, message: 'fetch is disabled' }
    try {
      return await this.#fetch(request, this.#signal)
    } catch {
      // It never should; then it is not this run that pays with the whole server.
      return { ok: false, message: 'the request cannot be sent' }
    }
  }
}
