import type { DeliveryStore } from '@millrace/delivery'
import type { Timer } from '@millrace/std'
import type { Shard } from '../host/shard.ts'
import { EXPIRY_REASON } from './backlog-expiry.ts'
import { BudgetWarning, enoughToWarn } from './budget-warning.ts'
import { ExpiryReports, type ExpiryReportsOptions } from './expiry-reports.ts'

const INTERVAL_MS = 1_000
/** The checks take at most one twentieth of the time, independent of the size of the backlog. */
const MAX_OF_TIME = 20
const EXPIRE_AT = 1
export const EXPIRE_UNTIL = 0.95

export interface BacklogBudgetOptions extends ExpiryReportsOptions {
  readonly store: Pick<DeliveryStore, 'backlog' | 'deadLetters'>
  readonly shards: () => readonly Pick<Shard, 'waitingShares' | 'waitingBytes' | 'expireWaiting'>[]
  /** Those that this process delivers. */
  readonly partitions: () => readonly number[]
  /** 0: no limit. */
  readonly maxBytes: number
}

/**
 * Limits the bytes of waiting events and open dead letters: a dead destination must not fill the disk, and must not
 * affect acceptance or other destinations.
 *
 * @see contracts/delivery.md §4 [D636]
 */
export class BacklogBudget {
  readonly #options: BacklogBudgetOptions
  readonly #warning: BudgetWarning
  readonly #reports: ExpiryReports
  #timer: Timer | undefined
  #looking: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(options: BacklogBudgetOptions) {
    this.#options = options
    this.#warning = new BudgetWarning(options.maxBytes, options.logger)
    this.#reports = new ExpiryReports(options)
  }

  /** From 80 % of the limit: the used share and the largest destination, for /health. */
  get warning(): string | undefined {
    return this.#warning.text
  }

  start(): void {
    if (this.#options.maxBytes === 0) return
    this.#lookAgain(INTERVAL_MS)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    await this.#looking
    this.#reports.tellAll()
  }

  #lookAgain(delayMs: number): void {
    if (this.#isStopped) return
    this.#timer = this.#options.clock.setTimer(() => {
      const startedAt = this.#options.clock.monotonic()
      this.#looking = this.#look()
        .catch((error: Error) => this.#options.logger.error({ cause: error.message }, 'the backlog cannot be counted'))
        .then(() => {
          const tookMs = this.#options.clock.monotonic() - startedAt
          this.#lookAgain(Math.max(INTERVAL_MS, tookMs * MAX_OF_TIME))
        })
    }, delayMs)
  }

  async #look(): Promise<void> {
    const { maxBytes } = this.#options
    const enough = enoughToWarn(maxBytes)
    let { used, shares } = await this.#figures(enough)
    this.#warning.check(used, largestOf(shares)?.destinationId)
    const isOver = used >= EXPIRE_AT * maxBytes
    const spent = new Set<string>()
    while (isOver && used > EXPIRE_UNTIL * maxBytes && !this.#isStopped) {
      const largest = largestOf(shares.filter(({ destinationId }) => !spent.has(destinationId)))
      if (largest === undefined) break
      const { destinationId } = largest
      const count = await this.#expire(destinationId, used - EXPIRE_UNTIL * maxBytes)
      if (count === 0) spent.add(destinationId)
      else this.#reports.note(destinationId, count)
      const now = await this.#figures(enough)
      used = now.used
      shares = now.shares
    }
    this.#warning.check(used, largestOf(shares)?.destinationId)
    this.#reports.tellDue()
  }

  /** @param enough below this size an estimate suffices: it counts an event that waits for two destinations twice. */
  async #figures(enough: number): Promise<{ used: number; shares: Share[] }> {
    const { shards, store } = this.#options
    const parts = (await Promise.all(shards().map((shard) => shard.waitingShares()))).flat()
    const rows = await store.backlog.byDestination()
    const letterBytes = new Map(rows.map((row) => [row.destinationId, row.letterBytes]))
    const shares = [...Map.groupBy(parts, ({ destinationId }) => destinationId)].map(([destinationId, of]) => ({
      destinationId,
      waitingBytes: of.reduce((sum, part) => sum + part.waitingBytes, 0),
      letterBytes: letterBytes.get(destinationId) ?? 0,
    }))
    const letters = shares.reduce((sum, { letterBytes }) => sum + letterBytes, 0)
    const most = shares.reduce((sum, share) => sum + share.waitingBytes, letters)
    if (most < enough) return { used: most, shares }
    const waiting = await Promise.all(shards().map((shard) => shard.waitingBytes()))
    return { used: waiting.reduce((sum, bytes) => sum + bytes, letters), shares }
  }

  /** Waiting events go before open dead letters. @returns the number of expired events; 0 if nothing can expire now. */
  async #expire(destinationId: string, bytes: number): Promise<number> {
    const { shards, partitions, store, clock } = this.#options
    for (const shard of shards()) {
      const { count } = await shard.expireWaiting({ destinationId, bytes })
      if (count > 0) return count
    }
    const request = { destinationId, partitions: partitions(), bytes, reason: EXPIRY_REASON, at: clock.now() }
    return (await store.deadLetters.expire(request)).count
  }
}

/** Stored bytes of one destination. */
interface Share {
  readonly destinationId: string
  readonly waitingBytes: number
  readonly letterBytes: number
}

function largestOf(shares: readonly Share[]): Share | undefined {
  let largest: Share | undefined
  for (const share of shares) if (bytesOf(share) > (largest === undefined ? 0 : bytesOf(largest))) largest = share
  return largest
}

function bytesOf({ waitingBytes: waiting, letterBytes }: Share): number {
  return waiting + letterBytes
}
