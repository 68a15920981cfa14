import { notificationOf, type PostgresNotifications } from '../postgres-notifications.ts'
import { type PostgresOptions, PostgresPool } from '../postgres-pool.ts'
import type { ProcessClock } from '../process-clock.ts'
import { fairShare } from './fair-share.ts'
import { addLeases, claim, countMembers, giveBack, nameOf, removeMember, renew } from './lease-table.ts'
import type { HeldLease, Lease, LeasedWork, Leases, MemberDescription } from './leases.ts'
import { OwnLease } from './own-lease.ts'

const TURN_MS = 500
const CONNECTIONS = 2
const TOPIC = 'leases'

export interface PostgresLeasesOptions {
  /** A schema that holds `leaseSchema`. The leases have connections of their own: a slow flush must not delay renewals. */
  readonly postgres: Pick<PostgresOptions, 'url' | 'schema' | 'applicationName' | 'logger'>
  /** Belong to the caller. */
  readonly notifications: Pick<PostgresNotifications, 'on'>
  readonly clock: ProcessClock
  readonly leaseMs: number
  /** A new one for each start of a process. */
  readonly memberId: string
  readonly member: MemberDescription
}

/**
 * Leases in the tables `member` and `lease`. In each turn, at least every 500 ms, the member renews what is due, gives
 * back what exceeds its fair share and claims what it lacks.
 */
export class PostgresLeases implements Leases {
  readonly #options: PostgresLeasesOptions
  readonly #pool: PostgresPool
  readonly #shared = new Map<string, { readonly work: LeasedWork; readonly numbers: readonly number[] }>()
  /** Kinds whose rows are all in the table. */
  readonly #added = new Set<string>()
  /** In order of their claims. */
  readonly #own = new Map<string, OwnLease>()
  readonly #ending = new Set<Promise<void>>()
  readonly #removeHint: () => void
  #members: ReadonlyMap<string, number> = new Map()
  #counts = { lost: 0, fenced: 0 }
  readonly #openedAt: number
  #renewedAt = Number.NEGATIVE_INFINITY
  #turn: Promise<void> | undefined
  #isTurnWanted = false
  #turnTimer: { cancel(): void } | undefined
  #endTimer: { cancel(): void } | undefined
  /** Why the last turn failed. */
  #failure: Error | undefined
  /** Set while this member leaves: resolves when the others no longer count it. */
  #removal: Promise<void> | undefined
  #left: Promise<void> | undefined
  #isClosed = false

  /** Joins the cluster. */
  constructor(options: PostgresLeasesOptions) {
    this.#options = options
    const { postgres, leaseMs } = options
    this.#openedAt = options.clock.monotonic()
    // An answer that comes later than this is of no use: the lease would be over before the next attempt.
    const ms = leaseMs / 4
    const timeouts = { connectMs: ms, statementMs: ms, lockMs: ms, idleInTransactionMs: ms, answerMs: ms }
    this.#pool = new PostgresPool({ ...postgres, connections: CONNECTIONS, timeouts })
    this.#removeHint = options.notifications.on(TOPIC, () => this.#takeTurn())
    this.#takeTurn()
  }

  share(work: LeasedWork, numbers: readonly number[]): void {
    this.#shared.set(work.kind, { work, numbers })
    this.#added.delete(work.kind)
    this.#takeTurn()
  }

  held(kind: string): Lease[] {
    return this.#heldOf(kind).toSorted((a, b) => a.number - b.number)
  }

  members(role: string): number {
    const known = this.#members.get(role) ?? 0
    return this.#options.member.roles.includes(role) ? Math.max(1, known) : known
  }

  refused(leases: readonly HeldLease[]): void {
    for (const { epoch, ...key } of leases) {
      const own = this.#own.get(nameOf(key))
      if (own === undefined || own.epoch !== epoch) continue
      this.#counts.fenced++
      this.#drop(own)
    }
  }

  counts(): { readonly lost: number; readonly fenced: number } {
    return { ...this.#counts }
  }

  trouble(): string | undefined {
    const { clock, leaseMs } = this.#options
    const silentMs = clock.monotonic() - Math.max(this.#renewedAt, this.#openedAt)
    if (silentMs <= leaseMs) return undefined
    const since = `no lease was renewed for ${Math.round(silentMs / 1_000)} s`
    return this.#failure === undefined ? since : `${since}: ${this.#failure.message}`
  }

  leave(): Promise<void> {
    this.#removal ??= this.#removeMember()
    this.#left ??= this.#leave()
    return this.#left
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.leave()
  }

  async #leave(): Promise<void> {
    const endAll = () => {
      for (const lease of this.#own.values()) this.#end(lease)
    }
    // No attempt starts from here on, even if Postgres is away.
    endAll()
    // A turn may just be claiming.
    await this.#turn
    endAll()
    // The turns go on meanwhile, and renew the leases whose work is still ending.
    while (this.#ending.size > 0) await Promise.all(this.#ending)
    // A member without leases has nothing to end, and would close its connections before its row is removed.
    await this.#removal
    this.#isClosed = true
    this.#removeHint()
    this.#turnTimer?.cancel()
    this.#endTimer?.cancel()
    await this.#turn
    await this.#pool[Symbol.asyncDispose]()
  }

  async #removeMember(): Promise<void> {
    // A turn that began before would add the row again.
    await this.#turn
    await this.#write((pool) => removeMember(pool, this.#options.memberId))
  }

  #takeTurn(): void {
    this.#isTurnWanted = true
    if (this.#turn !== undefined || this.#isClosed) return
    this.#turnTimer?.cancel()
    this.#turn = this.#runTurns().finally(() => {
      this.#turn = undefined
      if (!this.#isClosed) this.#turnTimer = this.#options.clock.setTimer(() => this.#takeTurn(), TURN_MS)
    })
  }

  async #runTurns(): Promise<void> {
    // What changes during a turn may be too late for it.
    while (this.#isTurnWanted && !this.#isClosed) {
      this.#isTurnWanted = false
      // A process that was stopped must not renew what may belong to another member.
      this.#dropEnded()
      const isDone = await this.#write(() => this.#oneTurn())
      if (!isDone) return
    }
  }

  async #oneTurn(): Promise<void> {
    await this.#renewIfDue()
    if (this.#removal !== undefined) return
    this.#members = await countMembers(this.#pool)
    for (const { work, numbers } of this.#shared.values()) {
      const { toGiveBack, toClaim } = fairShare(numbers, this.#heldOf(work.kind), this.members(work.role))
      for (const lease of toGiveBack) this.#end(lease)
      if (toClaim > 0) await this.#claim(work, numbers, toClaim)
    }
  }

  async #renewIfDue(): Promise<void> {
    const { clock, leaseMs, memberId, member } = this.#options
    const sentAt = clock.monotonic()
    if (sentAt + TURN_MS - this.#renewedAt < leaseMs / 4) return
    const sent = [...this.#own.values()].filter(({ isReturned }) => !isReturned)
    const isLeaving = this.#removal !== undefined
    const found = await renew(this.#pool, { ...member, id: memberId, leaseMs, isLeaving }, sent)
    const isFirst = this.#renewedAt === Number.NEGATIVE_INFINITY
    this.#renewedAt = sentAt
    const renewed = new Set(found.map(nameOf))
    for (const lease of sent) {
      if (renewed.has(nameOf(lease))) lease.confirm(sentAt)
      else if (!lease.isReturned) this.#drop(lease)
    }
    this.#dropEnded()
    if (isFirst) await this.#announce()
  }

  async #claim(work: LeasedWork, numbers: readonly number[], most: number): Promise<void> {
    const { clock, leaseMs, memberId } = this.#options
    const { kind } = work
    if (!this.#added.has(kind)) {
      await addLeases(this.#pool, kind, numbers)
      // Unless the numbers have changed meanwhile.
      if (this.#shared.get(kind)?.numbers === numbers) this.#added.add(kind)
    }
    const confirmedAt = clock.monotonic()
    const claimed = await claim(this.#pool, { owner: memberId, leaseMs }, kind, numbers, most)
    const leases = claimed.map((each) => new OwnLease(each, work, { clock, leaseMs, confirmedAt }))
    for (const lease of leases) this.#own.set(nameOf(lease), lease)
    // The answer may have come too late: then no work begins.
    this.#dropEnded()
    for (const lease of leases) if (!lease.signal.aborted) this.#begin(lease)
  }

  #begin(lease: OwnLease): void {
    lease.started = lease.work.start(lease).catch((error) => {
      this.#warn({ kind: lease.kind, number: lease.number, err: error }, 'work could not start under its lease')
      // Its end waits for `started`, so it begins after this.
      this.#end(lease)
    })
  }

  #end(lease: OwnLease): void {
    if (lease.isStopping || lease.signal.aborted) return
    lease.isStopping = true
    const ended = this.#stopAndReturn(lease).finally(() => this.#ending.delete(ended))
    this.#ending.add(ended)
  }

  async #stopAndReturn(lease: OwnLease): Promise<void> {
    const { kind, number } = lease
    try {
      await lease.started
      await lease.work.stop(lease)
    } catch (error) {
      this.#warn({ kind, number, err: error }, 'work did not end in order')
    }
    // The others must not take this member's share into account when they claim.
    await this.#removal
    if (lease.signal.aborted) return
    lease.isReturned = true
    await this.#write(async (pool) => {
      await giveBack(pool, this.#options.memberId, [lease])
      await this.#announce()
    })
    // Without the database the lease ends by itself: it is not renewed any more.
    this.#forget(lease)
  }

  /** Ends leases that another member may hold by now. */
  #dropEnded(): void {
    for (const lease of [...this.#own.values()]) if (lease.leftMs() <= 0) this.#drop(lease)
    this.#endTimer?.cancel()
    if (this.#own.size === 0) return
    const next = Math.min(...Array.from(this.#own.values(), (lease) => lease.leftMs()))
    this.#endTimer = this.#options.clock.setTimer(() => this.#dropEnded(), next)
  }

  #drop(lease: OwnLease): void {
    this.#counts.lost++
    this.#forget(lease)
    const { kind, number, epoch } = lease
    this.#warn({ kind, number, epoch }, 'a lease was lost; its work is dropped')
    lease.abort()
  }

  #forget(lease: OwnLease): void {
    if (this.#own.get(nameOf(lease)) === lease) this.#own.delete(nameOf(lease))
  }

  /** @returns false if the database did not do it; the next turn tries again. */
  async #write(work: (pool: PostgresPool) => Promise<void>): Promise<boolean> {
    try {
      await work(this.#pool)
      this.#failure = undefined
      return true
    } catch (error) {
      if (this.#failure === undefined) this.#warn({ err: error }, 'leases cannot be renewed')
      this.#failure = error as Error
      return false
    }
  }

  /** Calls the other members to a turn. */
  async #announce(): Promise<void> {
    const { channel, payload } = notificationOf(this.#options.postgres.schema, TOPIC)
    await this.#pool.query('SELECT pg_notify($1, $2)', [channel, payload])
  }

  #heldOf(kind: string): OwnLease[] {
    return [...this.#own.values()].filter((lease) => lease.kind === kind && !lease.isStopping)
  }

  #warn(fields: object, text: string): void {
    this.#options.postgres.logger.warn(fields, text)
  }
}
