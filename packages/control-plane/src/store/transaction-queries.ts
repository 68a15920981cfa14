import type { Queries } from '@millrace/postgres'
import { CompiledQuery, type Kysely } from 'kysely'

/** Statements of another part within a transaction of Kysely. */
export function queriesIn<Tables>(db: Kysely<Tables>): Queries {
  const query = async <Row extends object>(text: string, values: readonly unknown[] = []) => {
    const { rows, numAffectedRows = 0n } = await db.executeQuery<Row>(CompiledQuery.raw(text, [...values]))
    return { rows, rowCount: Number(numAffectedRows) }
  }
  return {
    query: query as Queries['query'],
    rows: async <Row extends object>(text: string, values?: readonly unknown[]) =>
      (await query<Row>(text, values)).rows,
    run: async (text, values) => (await query(text, values)).rowCount,
  }
}
