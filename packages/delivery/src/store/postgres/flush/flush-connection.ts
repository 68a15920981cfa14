import { type PostgresConnection, type PostgresPool, PostgresUnavailableError } from '@millrace/postgres'

/** The connection of the flushes: they never wait for a free one behind the reads of other callers. */
export class FlushConnection {
  readonly #pool: PostgresPool
  #connection: PostgresConnection | undefined

  constructor(pool: PostgresPool) {
    this.#pool = pool
  }

  /** Runs work, one at a time. A connection that broke while it was idle is replaced at once. */
  async use<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const isFresh = this.#connection === undefined
    try {
      return await this.#use(work)
    } catch (error) {
      if (isFresh || !(error instanceof PostgresUnavailableError)) throw error
      return this.#use(work)
    }
  }

  close(): void {
    this.#connection?.release()
    this.#connection = undefined
  }

  async #use<T>(work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    this.#connection ??= await this.#pool.connect()
    try {
      return await work(this.#connection)
    } catch (error) {
      if (error instanceof PostgresUnavailableError) this.close()
      throw error
    }
  }
}
