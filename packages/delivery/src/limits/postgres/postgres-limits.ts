import type { PostgresPool, Queries } from '@millrace/postgres'
import type { Clock, Timer } from '@millrace/std'
import type { DestinationLimits } from '../destination-limits.ts'
import { LocalDestinationLimits } from '../local-limits.ts'
import type { PartOfLimits } from '../process-part.ts'
import { DestinationPart, type DestinationTurn } from './destination-part.ts'
import { grantTokens, lockLimits, readLimits, releaseProbes, writeOutage } from './limit-tables.ts'

const TURN_MS = 500
const OWNERS_MS = 2_000

export interface PostgresLimitsOptions {
  /** A schema with the tables of `deliverySchema`; belongs to the caller. */
  readonly pool: PostgresPool
  /** Owner of this process's leases; a new one for each start. */
  readonly process: string
  /** By destination: how many other processes deliver to it now. @see FigureStore.owners */
  readonly others: () => Promise<ReadonlyMap<string, number>>
  /** Processes that may deliver: before `others` is known, each of them is taken for an owner. */
  readonly members: () => number
  readonly clock: Clock
  readonly logger: { info(fields: object, text: string): void; warn(fields: object, text: string): void }
}

/**
 * Limits that several processes share. The lanes are answered from memory. Every 500 ms, and at once where a lane lacks a token
 * or a probe, or an outage begins or ends, one transaction asks for what is wanted, tells what happened here, and reads what
 * happened elsewhere. While Postgres is away there are no new tokens and probes; concurrency and outages stay as they are known.
 *
 * @see contracts/cluster.md §7 [K13]; decision 0099
 */
export class PostgresLimits implements AsyncDisposable {
  readonly #options: PostgresLimitsOptions
  readonly #destinations = new Map<string, { readonly limits: DestinationLimits; readonly part: DestinationPart }>()
  #timer: Timer | undefined
  #turn: Promise<void> | undefined
  #isKicked = false
  #isFailing = false
  #isClosed = false
  #readAt = Number.NEGATIVE_INFINITY
  #ownersAt = Number.NEGATIVE_INFINITY
  #others: ReadonlyMap<string, number> | undefined

  constructor(options: PostgresLimitsOptions) {
    this.#options = options
    this.#schedule()
  }

  /** The limits of a destination for all its lanes in this process. */
  of(destinationId: string): DestinationLimits {
    const known = this.#destinations.get(destinationId)
    if (known !== undefined) return known.limits
    let part: DestinationPart | undefined
    const limits = new LocalDestinationLimits((limits) => {
      part = this.#partOf(destinationId, limits)
      return part
    })
    this.#destinations.set(destinationId, { limits, part: part! })
    this.#readAt = Number.NEGATIVE_INFINITY
    this.#kick()
    return limits
  }

  /** The destination was removed; its lanes have closed. */
  forget(destinationId: string): void {
    this.#destinations.delete(destinationId)
  }

  /** Stops, and leaves its probes to other processes. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    await this.#turn
    const { pool, process } = this.#options
    // If Postgres is away, they end by themselves.
    await pool.transaction((queries) => releaseProbes(queries, process)).catch(() => {})
  }

  #partOf(destination: string, limits: PartOfLimits): DestinationPart {
    const { clock } = this.#options
    return new DestinationPart({
      ...{ destination, limits, owners: this.#ownersOf(destination) },
      ...{ now: () => clock.monotonic(), kick: () => this.#kick() },
    })
  }

  #ownersOf(destination: string): number {
    if (this.#others === undefined) return Math.max(1, this.#options.members())
    return 1 + (this.#others.get(destination) ?? 0)
  }

  #kick(): void {
    if (this.#isClosed) return
    this.#isKicked = true
    // A failed turn is repeated later, however much is wanted.
    if (this.#turn !== undefined || this.#isFailing) return
    this.#timer?.cancel()
    this.#start()
  }

  #schedule(): void {
    if (!this.#isClosed) this.#timer = this.#options.clock.setTimer(() => this.#start(), TURN_MS)
  }

  #start(): void {
    // What lanes want at the same time goes into one turn.
    this.#turn = Promise.resolve()
      .then(() => this.#runTurns())
      .finally(() => {
        this.#turn = undefined
        this.#schedule()
      })
  }

  async #runTurns(): Promise<void> {
    const { logger } = this.#options
    try {
      do {
        this.#isKicked = false
        await this.#oneTurn()
      } while (this.#isKicked && !this.#isClosed)
      if (this.#isFailing) logger.info({}, 'the limits of destinations are shared again')
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing) logger.warn({ err: error }, 'the limits of destinations cannot be shared')
      this.#isFailing = true
    }
  }

  async #oneTurn(): Promise<void> {
    const { clock, pool, process } = this.#options
    const sentAt = clock.monotonic()
    await this.#readOwners(sentAt)
    const isReadDue = sentAt - this.#readAt >= TURN_MS
    const turns = new Map<string, DestinationTurn>()
    for (const [id, { part }] of this.#destinations) {
      const turn = part.turn()
      if (turn !== undefined) turns.set(id, turn)
    }
    const toRead = isReadDue ? [...this.#destinations.keys()] : [...turns.keys()]
    if (toRead.length === 0) return
    if (isReadDue) this.#readAt = sentAt
    const { grants, rows } =
      turns.size === 0
        ? { grants: [], rows: await readLimits({ rows: (text, values) => pool.query(text, values) }, toRead, process) }
        : await pool.transaction((queries) => this.#carryOut(queries, turns, toRead))
    for (const [id, turn] of turns) this.#destinations.get(id)?.part.written(turn)
    for (const row of rows) this.#destinations.get(row.destination)?.part.follow(row, sentAt)
    for (const { destination, tokens, waitMs } of grants) {
      this.#destinations.get(destination)?.part.granted(tokens, sentAt, waitMs)
    }
  }

  async #carryOut(queries: Queries, turns: ReadonlyMap<string, DestinationTurn>, toRead: readonly string[]) {
    const { process } = this.#options
    await lockLimits(queries, [...turns.keys()])
    const asks = [...turns.values()].flatMap(({ tokens }) => tokens ?? [])
    const grants = asks.length === 0 ? [] : await grantTokens(queries, asks)
    for (const [id, { writes }] of turns) for (const write of writes) await writeOutage(queries, id, process, write)
    return { grants, rows: await readLimits(queries, toRead, process) }
  }

  async #readOwners(now: number): Promise<void> {
    if (now - this.#ownersAt < OWNERS_MS) return
    this.#others = await this.#options.others()
    this.#ownersAt = now
    for (const [id, { part }] of this.#destinations) part.setOwners(this.#ownersOf(id))
  }
}
