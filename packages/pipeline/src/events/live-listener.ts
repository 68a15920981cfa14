import type { Clock, Timer } from '@millrace/std'
import type { EventFilter } from './event-filter.ts'

const MAX_MESSAGES = 50
const WINDOW_MS = 1_000

export interface LiveListenerOptions {
  readonly filter: EventFilter
  readonly clock: Clock
  /** @returns false if nothing more should be written until `drained` is called. */
  readonly write: (text: string) => boolean
  /** Whether the client is still authorised. */
  readonly mayStay: () => boolean
  readonly onEnd: () => void
}

/**
 * A client of the live view: it gets at most 50 messages in any second, and the number of omitted messages. Messages
 * for a slow reader are not buffered; they count as omitted.
 *
 * @see contracts/delivery.md §8 [D639]
 */
export class LiveListener {
  readonly filter: EventFilter
  readonly mayStay: () => boolean
  readonly #options: LiveListenerOptions
  /** Times of the last 50 messages, in a ring. */
  readonly #sentAt = new Float64Array(MAX_MESSAGES).fill(Number.NEGATIVE_INFINITY)
  #next = 0
  #skipped = 0
  #timer: Timer | undefined
  #stalledSince: number | undefined
  #isEnded = false

  constructor(options: LiveListenerOptions) {
    this.filter = options.filter
    this.mayStay = options.mayStay
    this.#options = options
  }

  /** Whether the next message would be omitted. */
  get isFull(): boolean {
    return this.#stalledSince !== undefined || this.#roomAt() > this.#options.clock.monotonic()
  }

  /** How long the client has not read. */
  get stalledMs(): number {
    return this.#stalledSince === undefined ? 0 : this.#options.clock.monotonic() - this.#stalledSince
  }

  send(name: string, data: string): void {
    if (this.#isEnded) return
    if (this.#skipped > 0 && !this.isFull) this.#sendSkipped()
    if (this.isFull) this.skip(1)
    else this.#write(name, data)
  }

  skip(count: number): void {
    if (this.#isEnded) return
    this.#skipped += count
    this.#timer ??= this.#options.clock.setTimer(
      () => {
        this.#timer = undefined
        if (this.isFull) this.skip(0)
        else this.#sendSkipped()
      },
      Math.max(this.#roomAt() - this.#options.clock.monotonic(), this.#stalledSince === undefined ? 0 : WINDOW_MS),
    )
  }

  /** Sends a comment: proxies then keep the connection open. */
  beat(): void {
    if (!this.#isEnded && this.#stalledSince === undefined) this.#put(':\n\n')
  }

  /** The client has read everything that was written. */
  drained(): void {
    this.#stalledSince = undefined
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#timer?.cancel()
    this.#options.onEnd()
  }

  /** When the limit allows the next message: a second after the 50th last one. */
  #roomAt(): number {
    return this.#sentAt[this.#next]! + WINDOW_MS
  }

  #sendSkipped(): void {
    const count = this.#skipped
    this.#skipped = 0
    this.#timer?.cancel()
    this.#timer = undefined
    this.#write('skipped', JSON.stringify({ count }))
  }

  #write(name: string, data: string): void {
    this.#sentAt[this.#next] = this.#options.clock.monotonic()
    this.#next = (this.#next + 1) % MAX_MESSAGES
    this.#put(`event: ${name}\ndata: ${data}\n\n`)
  }

  #put(text: string): void {
    if (!this.#options.write(text)) this.#stalledSince = this.#options.clock.monotonic()
  }
}
