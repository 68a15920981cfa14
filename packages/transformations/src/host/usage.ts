import type { Clock } from '@millrace/std'
import { HELD_SHARE, MIN_HELD_MS, USAGE_MS } from '../limits.ts'

const PARTS = 12
const PART_MS = USAGE_MS / PARTS

interface Used {
  ms: number
  /** The part of `ms` in which a run held its process for longer than fair turns allow. */
  heldMs: number
}

/**
 * The time that the code of each destination used its processes within the last minute. The queues in front of the processes
 * are ordered by it: code that used little goes first, which is fair as long as runs are short. A long run cannot be
 * interrupted and holds up others in any order: a destination with more of these than its share runs in the penalty process.
 */
export class Usage {
  readonly #clock: Clock
  readonly #capacityMs: number
  /** Use by destination in each part of the minute; the newest part is last. */
  readonly #parts: Map<string, Used>[] = [new Map()]
  readonly #totals = new Map<string, Used>()
  /** On the monotonic clock: when the newest part began. */
  #since: number

  /** @param processes that serve live traffic. */
  constructor(clock: Clock, processes: number) {
    this.#clock = clock
    this.#capacityMs = processes * USAGE_MS
    this.#since = clock.monotonic()
  }

  add(key: string, { ms, heldMs }: Readonly<Used>): void {
    this.#forget()
    for (const map of [this.#parts.at(-1)!, this.#totals]) {
      const used = map.get(key) ?? { ms: 0, heldMs: 0 }
      used.ms += ms
      used.heldMs += heldMs
      map.set(key, used)
    }
  }

  /** Milliseconds. */
  usedBy(key: string): number {
    this.#forget()
    return this.#totals.get(key)?.ms ?? 0
  }

  /** A destination that is alone has no share to keep. */
  isOverShare(key: string): boolean {
    this.#forget()
    const heldMs = this.#totals.get(key)?.heldMs ?? 0
    const destinations = this.#totals.size + (this.#totals.has(key) ? 0 : 1)
    return destinations > 1 && heldMs > Math.max(MIN_HELD_MS, (this.#capacityMs * HELD_SHARE) / destinations)
  }

  #forget(): void {
    const now = this.#clock.monotonic()
    if (now - this.#since >= 2 * USAGE_MS) {
      this.#parts.splice(0, this.#parts.length, new Map())
      this.#totals.clear()
      this.#since = now
    }
    for (; now - this.#since >= PART_MS; this.#since += PART_MS) {
      this.#parts.push(new Map())
      if (this.#parts.length > PARTS) this.#subtract(this.#parts.shift()!)
    }
  }

  #subtract(part: ReadonlyMap<string, Used>): void {
    for (const [key, { ms, heldMs }] of part) {
      const total = this.#totals.get(key)!
      total.ms -= ms
      total.heldMs -= heldMs
      // No part has the destination any more; sums of fractions may leave a rounding error.
      if (!this.#parts.some((each) => each.has(key))) this.#totals.delete(key)
    }
  }
}
