import type { DeliveryStore } from '@millrace/delivery'
import type { Clock, Logger, Timer } from '@millrace/std'
import type { Shard } from '../host/shard.ts'
import { EXPIRY_REASON } from './backlog-expiry.ts'

const INTERVAL_MS = 1_000
/** The checks take at most one twentieth of the time, independent of the size of the backlog. */
const MAX_OF_TIME = 20
const WARN_AT = 0.8
const EXPIRE_AT = 1
const EXPIRE_UNTIL = 0.95
/** The first expiry of a destination is reported at once, later ones at this interval. */
const TELL_EVERY_MS = 60_000

export interface BacklogBudgetOptions {
  readonly store: Pick<DeliveryStore, 'backlog' | 'deadLetters'>
  readonly clock: Clock
  readonly logger: Logger
  readonly shards: () => readonly Pick<Shard, 'waitingShares' | 'waitingBytes' | 'expireWaiting'>[]
  /** Those that this process delivers. */
  readonly partitions: () => readonly number[]
  /** 0: no limit. */
  readonly maxBytes: number
  readonly onExpired: (destinationId: string, count: number) => void
  /** For the audit log: the events of a destination that expired since the last report. */
  readonly tellExpired: (destinationId: string, count: number) => void
}

/**
 * Limits the bytes of waiting events and open dead letters: a dead destination must not fill the disk, and must not
 * affect acceptance or other destinations.
 *
 * @see contracts/delivery.md §4 [D636]
 */
export class BacklogBudget {
  readonly #options: BacklogBudgetOptions
  /** By destination: expired events not yet reported, and the time of the last report. */
  readonly #untold = new Map<string, { count: number; toldAt: number }>()
  #warning: string | undefined
  #timer: Timer | undefined
  #looking: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(options: BacklogBudgetOptions) {
    this.#options = options
  }

  /** From 80 % of the limit: the used share and the largest destination, for /health. */
  get warning(): string | undefined {
    return this.#warning
  }

  start(): void {
    if (this.#options.maxBytes === 0) return
    this.#lookAgain(INTERVAL_MS)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    await this.#looking
    for (const id of this.#untold.keys()) this.#tell(id)
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
    const { maxBytes, clock } = this.#options
    let { used, shares } = await this.#figures(WARN_AT * maxBytes)
    this.#warn(used, shares)
    const isOver = used >= EXPIRE_AT * maxBytes
    const spent = new Set<string>()
    while (isOver && used > EXPIRE_UNTIL * maxBytes && !this.#isStopped) {
      const largest = largestOf(shares.filter(({ destinationId }) => !spent.has(destinationId)))
      if (largest === undefined) break
      const { destinationId } = largest
      const count = await this.#expire(destinationId, used - EXPIRE_UNTIL * maxBytes)
      if (count === 0) spent.add(destinationId)
      else this.#note(destinationId, count)
      const now = await this.#figures(WARN_AT * maxBytes)
      used = now.used
      shares = now.shares
    }
    this.#warn(used, shares)
    for (const [id, { toldAt }] of this.#untold) if (clock.monotonic() - toldAt >= TELL_EVERY_MS) this.#tell(id)
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
      const count = await shard.expireWaiting({ destinationId, bytes })
      if (count > 0) return count
    }
    const request = { destinationId, partitions: partitions(), bytes, reason: EXPIRY_REASON, at: clock.now() }
    return (await store.deadLetters.expire(request)).count
  }

  #warn(used: number, shares: readonly Share[]): void {
    const { maxBytes, logger } = this.#options
    const largest = largestOf(shares)
    const hasWarned = this.#warning !== undefined
    if (used < WARN_AT * maxBytes || largest === undefined) {
      this.#warning = undefined
      if (hasWarned) logger.info({ usedBytes: used }, 'the backlog is below 80 % of its limit again')
      return
    }
    const { destinationId } = largest
    this.#warning = `${Math.floor((used / maxBytes) * 100)} % used, most by ${destinationId}`
    if (!hasWarned) logger.warn({ destinationId, usedBytes: used, maxBytes }, 'the backlog is above 80 % of its limit')
  }

  #note(destinationId: string, count: number): void {
    this.#options.onExpired(destinationId, count)
    const known = this.#untold.get(destinationId)
    this.#untold.set(destinationId, {
      count: (known?.count ?? 0) + count,
      toldAt: known?.toldAt ?? Number.NEGATIVE_INFINITY,
    })
  }

  #tell(destinationId: string): void {
    const { logger, clock, tellExpired } = this.#options
    const { count } = this.#untold.get(destinationId)!
    // No expiry since the last report: the next expiry is reported at once.
    if (count === 0) {
      this.#untold.delete(destinationId)
      return
    }
    this.#untold.set(destinationId, { count: 0, toldAt: clock.monotonic() })
    logger.warn({ destinationId, count }, 'events expired: the backlog was full')
    tellExpired(destinationId, count)
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
