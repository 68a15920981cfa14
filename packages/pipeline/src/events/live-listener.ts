import type { Clock, Timer } from '@millrace/std'
import type { EventFilter } from './event-filter.ts'

const MAX_MESSAGES = 50
const WINDOW_MS = 1_000

export interface LiveListenerOptions {
  readonly filter: EventFilter
  readonly clock: Clock
  /** @returns false when nothing more should be written until `drained` is called. */
  readonly write: (text: string) => boolean
  /** Whether whoever listens may still do so. */
  readonly mayStay: () => boolean
  readonly onEnd: () => void
}

/**
 * One who watches: gets at most 50 messages in any second, and is told how many others there were. For one who reads
 * too slowly nothing is kept either; it counts as left out.
 *
 * @see contracts/delivery.md §8 [D639]
 */
export class LiveListener {
  readonly filter: EventFilter
  readonly mayStay: () => boolean
  readonly #options: LiveListenerOptions
  /** When the last 50 messages were sent, in a ring. */
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

  /** Whether the next message would be left out. */
  get isFull(): boolean {
    return this.#stalledSince !== undefined || this.#roomAt() > this.#options.clock.monotonic()
  }

  /** For how long it has not read what was written. */
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

  /** A comment, so that proxies keep the connection open. */
  beat(): void {
    if (!this.#isEnded && this.#stalledSince === undefined) this.#put(':\n\n')
  }

  /** What was written has been read. */
  drained(): void {
    this.#stalledSince = undefined
  }

  end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#timer?.cancel()
    this.#options.onEnd()
  }

  /** When there is room for one more: a second after the 50th last message. */
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
