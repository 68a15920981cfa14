import type { PostgresPool } from '@millrace/postgres'
import type { Clock } from '@millrace/std'

/** Whether Postgres answers, for /health. */
export class PostgresHealth {
  readonly #pool: PostgresPool
  readonly #clock: Clock
  #answeredAt: number

  constructor(pool: PostgresPool, clock: Clock) {
    this.#pool = pool
    this.#clock = clock
    this.#answeredAt = clock.monotonic()
  }

  /** @param bearableMs a silence of this length is no trouble yet. */
  async trouble(bearableMs: number): Promise<string | undefined> {
    try {
      await this.#pool.query('SELECT 1')
      this.#answeredAt = this.#clock.monotonic()
      return undefined
    } catch (error) {
      if (this.#clock.monotonic() - this.#answeredAt <= bearableMs) return undefined
      return `Postgres does not answer: ${(error as Error).message}`
    }
  }
}
