import type { PostgresPool } from '../postgres-pool.ts'
import type { ProcessClock } from '../process-clock.ts'
import { countMembers, removeMember, renew } from './lease-table.ts'
import type { MemberDescription } from './leases.ts'

const MAX_TURN_MS = 2_000

export interface MembershipOptions {
  /** Belongs to the caller. */
  readonly pool: PostgresPool
  readonly clock: ProcessClock
  readonly leaseMs: number
  /** A new one for each start of a process. */
  readonly memberId: string
  readonly member: MemberDescription
  readonly logger: { warn(fields: object, text: string): void }
}

/** A process in the table of members that takes no leases; it renews its row, and counts the others, at least every 2 s. */
export class Membership implements AsyncDisposable {
  readonly #options: MembershipOptions
  #members: ReadonlyMap<string, number> = new Map()
  #turn: Promise<void> = Promise.resolve()
  #timer: { cancel(): void } | undefined
  #isFailing = false
  #isLeaving = false

  /** Joins the cluster. */
  constructor(options: MembershipOptions) {
    this.#options = options
    this.#begin()
  }

  /** The number of live members with a role, this one included; the last known one while the database is away. */
  members(role: string): number {
    const known = this.#members.get(role) ?? 0
    return this.#options.member.roles.includes(role) ? Math.max(1, known) : known
  }

  /** The others no longer count it. While the database is away, its row just expires. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isLeaving) return
    this.#isLeaving = true
    this.#timer?.cancel()
    await this.#turn
    await this.#attempt(() => removeMember(this.#options.pool, this.#options.memberId))
  }

  #begin(): void {
    const { clock, leaseMs } = this.#options
    this.#turn = this.#attempt(() => this.#renew()).then(() => {
      if (this.#isLeaving) return
      this.#timer = clock.setTimer(() => this.#begin(), Math.min(MAX_TURN_MS, leaseMs / 4))
    })
  }

  async #renew(): Promise<void> {
    const { pool, leaseMs, memberId, member } = this.#options
    await renew(pool, { ...member, id: memberId, leaseMs, isLeaving: false }, [])
    this.#members = await countMembers(pool)
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work()
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing) this.#options.logger.warn({ err: error }, 'the membership cannot be renewed')
      this.#isFailing = true
    }
  }
}
