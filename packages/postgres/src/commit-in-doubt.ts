import { setTimeout as delay } from 'node:timers/promises'
import { PostgresUnavailableError, type Queries } from './postgres-connection.ts'

interface Asked {
  query<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]>
}

const IN_DOUBT_MS = 10_000
const ASK_AGAIN_MS = 250

/** Of the transaction that these statements run in; it has one from now on. */
export async function transactionId(queries: Queries): Promise<string> {
  const [row] = await queries.rows<{ id: string }>('SELECT pg_current_xact_id()::text AS id')
  return row!.id
}

/**
 * Whether a transaction took effect whose commit had no answer.
 *
 * @param id of `transactionId`.
 * @throws cause if Postgres does not tell within 10 s.
 */
export async function isCommitted(pool: Asked, id: string, cause: PostgresUnavailableError): Promise<boolean> {
  const deadline = performance.now() + IN_DOUBT_MS
  while (performance.now() < deadline) {
    try {
      const [row] = await pool.query<{ status: string }>('SELECT pg_xact_status($1::xid8) AS status', [id])
      if (row!.status !== 'in progress') return row!.status === 'committed'
    } catch (error) {
      if (!(error instanceof PostgresUnavailableError)) throw error
    }
    await delay(ASK_AGAIN_MS)
  }
  throw cause
}
