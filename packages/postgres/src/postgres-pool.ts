import { Pool, types } from 'pg'
import { dropOldTokens, isCommitted, leaveToken } from './commit-in-doubt.ts'
import { PostgresConnection, PostgresUnavailableError, type Queries } from './postgres-connection.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`: a direct connection, or a pooler in session mode. */
  readonly url: string
  /** Schema of all tables; one installation of Millrace has one. */
  readonly schema: string
  /** Maximum number of connections. */
  readonly connections: number
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string
  readonly logger: { warn(fields: object, text: string): void }
  readonly timeouts?: Partial<PostgresTimeouts>
}

/** All in ms. */
export interface PostgresTimeouts {
  /** For a connection, new or free, before a query begins. */
  readonly connectMs: number
  /** The server ends a statement after this time. */
  readonly statementMs: number
  /** The server ends a statement that waits for a lock for this time. */
  readonly lockMs: number
  /** The server ends a transaction whose client sends nothing for this time, so that a stopped process keeps no lock. */
  readonly idleInTransactionMs: number
  /** The client gives up a statement without an answer and closes its connection; longer than `statementMs`. */
  readonly answerMs: number
}

export const DEFAULT_TIMEOUTS: PostgresTimeouts = {
  connectMs: 5_000,
  statementMs: 10_000,
  lockMs: 5_000,
  idleInTransactionMs: 2_000,
  answerMs: 12_000,
}

const IDLE_CONNECTION_MS = 30_000
const KEEP_ALIVE_MS = 5_000
/** One write of so many deletes old tokens. */
const WRITES_WITH_OLD_TOKENS = 100

/**
 * Connections to one schema of a Postgres database. Every wait is bounded, and a server that goes away never ends this
 * process: each connection has an `error` handler, and a broken one is replaced when the next query needs it.
 *
 * @see contracts/cluster.md §5 [K10]
 */
export class PostgresPool implements AsyncDisposable {
  readonly schema: string
  readonly #pool: Pool
  #writes = 0

  /** Connects when the first query needs it. */
  constructor(options: PostgresOptions) {
    const { url, schema, connections, applicationName, logger } = options
    const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts }
    this.schema = schema
    this.#pool = new Pool({
      connectionString: url,
      max: connections,
      application_name: applicationName,
      connectionTimeoutMillis: timeouts.connectMs,
      query_timeout: timeouts.answerMs,
      idleTimeoutMillis: IDLE_CONNECTION_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      types: { getTypeParser },
      // Not startup parameters, which a pooler may refuse.
      onConnect: (client) => client.query(SESSION_SETTINGS, sessionValues(schema, timeouts)),
    })
    const warn = (err: Error) => logger.warn({ err }, 'a connection to Postgres broke')
    this.#pool.on('error', warn)
    // The pool handles errors of idle connections only; an error without a handler would end the process.
    this.#pool.on('connect', (client) => client.on('error', () => {}))
  }

  /** Runs one statement in a transaction of its own. */
  async query<Row extends object = Record<string, unknown>>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    const connection = await this.connect()
    try {
      return await connection.rows<Row>(text, values)
    } finally {
      connection.release()
    }
  }

  /**
   * Runs statements in one transaction: all of them take effect or, if this throws, none. When the connection breaks
   * during the commit, it is unknown whether they did.
   */
  async transaction<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    const connection = await this.connect()
    try {
      return await connection.transaction(work)
    } finally {
      connection.release()
    }
  }

  /**
   * As `transaction`, but the outcome is known: if the connection breaks during the commit, another connection asks for it.
   * The schema is one of `migrate`.
   *
   * @param mayWait whether the caller can wait for the outcome longer than 10 s, up to 60 s. Default: it cannot.
   * @throws PostgresUnavailableError if Postgres does not answer: then nothing was written, unless `isInDoubt`.
   */
  async write<T>(work: (queries: Queries) => Promise<T>, mayWait: () => boolean = () => false): Promise<T> {
    const token = crypto.randomUUID()
    let finished: { readonly result: T } | undefined
    try {
      return await this.transaction(async (queries) => {
        await leaveToken(queries, token)
        if (++this.#writes % WRITES_WITH_OLD_TOKENS === 0) await dropOldTokens(queries)
        const result = await work(queries)
        finished = { result }
        return result
      })
    } catch (error) {
      if (finished === undefined || !(error instanceof PostgresUnavailableError)) throw error
      if (!(await isCommitted(this, token, error, mayWait))) throw error
      return finished.result
    }
  }

  /** A connection of the caller, who must release it. With `end`, this is a pool as Kysely's PostgresDialect takes it. */
  async connect(): Promise<PostgresConnection> {
    try {
      return new PostgresConnection(await this.#pool.connect())
    } catch (error) {
      throw new PostgresUnavailableError(error)
    }
  }

  /** Closes the connections after the statements in flight. */
  async end(): Promise<void> {
    await this.#pool.end()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end()
  }
}

const SESSION_SETTINGS = `
  SELECT set_config('search_path', quote_ident($1), false),
         set_config('statement_timeout', $2, false),
         set_config('lock_timeout', $3, false),
         set_config('idle_in_transaction_session_timeout', $4, false),
         set_config('client_min_messages', 'warning', false)`

function sessionValues(schema: string, timeouts: PostgresTimeouts): string[] {
  return [schema, `${timeouts.statementMs}`, `${timeouts.lockMs}`, `${timeouts.idleInTransactionMs}`]
}

/** Integers of 8 bytes become numbers: every stored one fits into 2^53. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  return oid === types.builtins.INT8 && format !== 'binary' ? safeInteger : types.getTypeParser(oid, format)
}

function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new Error(`${text} in Postgres is beyond 2^53`)
  return value
}
