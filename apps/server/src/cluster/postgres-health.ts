import type { PostgresPool } from '@millrace/postgres'
import type { Clock } from '@millrace/std'

/** Probes of load balancers and alarms wait no longer. */
const ANSWER_MS = 3_000

/** Whether Postgres answers, for /health. */
export class PostgresHealth {
  readonly #pool: Pick<PostgresPool, 'query'>
  readonly #clock: Clock
  /** One question at a time, however often /health is asked. */
  #asked: Promise<string | undefined> | undefined

  constructor(pool: Pick<PostgresPool, 'query'>, clock: Clock) {
    this.#pool = pool
    this.#clock = clock
  }

  /** Why Postgres does not answer; undefined: it does. */
  async trouble(): Promise<string | undefined> {
    this.#asked ??= this.#ask().finally(() => {
      this.#asked = undefined
    })
    const late = Promise.withResolvers<string>()
    const timer = this.#clock.setTimer(
      () => late.resolve(`Postgres does not answer within ${ANSWER_MS / 1_000} s`),
      ANSWER_MS,
    )
    try {
      return await Promise.race([this.#asked, late.promise])
    } finally {
      timer.cancel()
    }
  }

  async #ask(): Promise<string | undefined> {
    try {
      await this.#pool.query('SELECT 1')
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }
}
