import { setTimeout as delay } from 'node:timers/promises'
import { PostgresUnavailableError, type Queries } from './postgres-connection.ts'

interface Asked {
  query<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]>
}

const IN_DOUBT_MS = 10_000
/** The longest lease. */
const MAX_IN_DOUBT_MS = 60_000
const ASK_AGAIN_MS = 250
/** A statement waited too long for a lock. */
const LOCK_NOT_AVAILABLE = '55P03'
/** Longer than any transaction is in doubt. */
const TOKEN_KEPT = `interval '10 minutes'`
const DELETED_TOGETHER = 1_000

/**
 * The table by which `PostgresPool.write` knows its transactions: each leaves a random token. Their own numbers do not
 * tell, because a crash of the server gives numbers of lost transactions to others. is_lost: the transaction cannot take
 * effect any more.
 */
export const WRITE_TOKENS = `
  CREATE TABLE IF NOT EXISTS write_token (
    token uuid PRIMARY KEY, is_lost boolean NOT NULL DEFAULT false, at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX IF NOT EXISTS write_token_by_time ON write_token (at)`

/** Leaves the token of the transaction that these statements run in. */
export async function leaveToken(queries: Queries, token: string): Promise<void> {
  await queries.run('INSERT INTO write_token (token) VALUES ($1)', [token])
}

/** Deletes tokens of transactions that ended long ago, at most 1,000. */
export async function dropOldTokens(queries: Queries): Promise<void> {
  await queries.run(`
    DELETE FROM write_token WHERE token IN (
      SELECT token FROM write_token WHERE at < now() - ${TOKEN_KEPT} ORDER BY at LIMIT ${DELETED_TOGETHER}
      FOR UPDATE SKIP LOCKED
    )`)
}

/**
 * Whether a transaction took effect whose commit had no answer. Inserts its token: that waits for the end of the
 * transaction, and only one of the two can have it.
 *
 * @param mayWait whether the caller can wait longer than 10 s, up to 60 s.
 * @throws PostgresUnavailableError with `isInDoubt` if Postgres does not tell in time.
 */
export async function isCommitted(
  pool: Asked,
  token: string,
  cause: PostgresUnavailableError,
  mayWait: () => boolean,
): Promise<boolean> {
  const begunAt = performance.now()
  const waitedMs = () => performance.now() - begunAt
  while (waitedMs() < IN_DOUBT_MS || (waitedMs() < MAX_IN_DOUBT_MS && mayWait())) {
    try {
      const [row] = await pool.query<{ isLost: boolean }>(ASK, [token])
      return !row!.isLost
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (!(error instanceof PostgresUnavailableError) && code !== LOCK_NOT_AVAILABLE) throw error
    }
    await delay(ASK_AGAIN_MS)
  }
  throw new PostgresUnavailableError(cause.cause, { isInDoubt: true })
}

const ASK = `
  INSERT INTO write_token (token, is_lost) VALUES ($1, true)
  ON CONFLICT (token) DO UPDATE SET token = excluded.token RETURNING is_lost AS "isLost"`
