import { DatabaseError, type PoolClient, type QueryResult } from 'pg'

/** Runs statements, on one connection or in one transaction. */
export interface Queries {
  query<Row extends object = Record<string, unknown>>(
    text: string,
    values?: readonly unknown[],
  ): Promise<QueryResult<Row>>
  rows<Row extends object = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>
  /** @returns the number of rows that the statement changed. */
  run(text: string, values?: readonly unknown[]): Promise<number>
}

/**
 * One connection of a pool. After an error that is not an answer of the server (no answer in time, a broken socket), it
 * cannot be used again: a late answer would go to another query. `release` then closes it.
 */
export class PostgresConnection implements Queries {
  readonly #client: PoolClient
  #broken: Error | undefined

  constructor(client: PoolClient) {
    this.#client = client
  }

  async query<Row extends object = Record<string, unknown>>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<QueryResult<Row>> {
    if (this.#broken !== undefined) throw new PostgresUnavailableError(this.#broken)
    try {
      return await this.#client.query<Row>(text, [...values])
    } catch (error) {
      if (error instanceof DatabaseError && !isOfConnection(error)) throw error
      this.#broken = error as Error
      throw new PostgresUnavailableError(error)
    }
  }

  async rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> {
    return (await this.query<Row>(text, values)).rows
  }

  async run(text: string, values?: readonly unknown[]): Promise<number> {
    return (await this.query(text, values)).rowCount ?? 0
  }

  /** @see PostgresPool.transaction */
  async transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    await this.query('BEGIN')
    let result: T
    try {
      result = await work(this)
    } catch (error) {
      // Without an answer to the rollback the connection is closed, and the server rolls back.
      await this.query('ROLLBACK').catch(() => {})
      throw error
    }
    const { command } = await this.query('COMMIT')
    // Postgres answers so if a statement failed and `work` ignored it.
    if (command === 'ROLLBACK') throw new Error('Postgres rolled the transaction back: a statement in it failed')
    return result
  }

  release(): void {
    this.#client.release(this.#broken)
  }
}

/** Postgres did not answer. It is unknown whether the statement took effect. */
export class PostgresUnavailableError extends Error {
  override readonly name = 'PostgresUnavailableError'
  readonly code = 'postgres_unavailable'
  /** From `PostgresPool.write`: it is unknown whether the transaction took effect. Else nothing was written. */
  readonly isInDoubt: boolean

  constructor(cause: unknown, { isInDoubt = false } = {}) {
    super(`Postgres does not answer: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.isInDoubt = isInDoubt
  }
}

/** Classes of SQLSTATE with which the server ends or refuses a connection: broken (08), full (53), shutting down (57P). */
function isOfConnection({ code = '' }: DatabaseError): boolean {
  return /^(?:08|53|57P)/.test(code)
}
