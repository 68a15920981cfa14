import type { PostgresPool, Queries } from '@millrace/postgres'
import type { Span, SpanStore } from '../span-store.ts'
import { ALL_SPANS, PUT_SPANS } from './postgres-spans.ts'

/** The spans of a revision of the configuration. */
export interface ConfigurationSpans {
  /** 0 before the first change. */
  readonly revision: number
  /** By partition: where the log ended at the change. */
  readonly ends: readonly number[]
  /**
   * Those of the configuration. Those of removed resources stay, with their ends, until each owner has recorded what it
   * discarded in its partitions, and drops them.
   */
  readonly spans: readonly Span[]
}

export interface SpansWrite extends Omit<ConfigurationSpans, 'spans'> {
  /** What the configuration changes at these ends. */
  readonly changeOf: (all: readonly Span[]) => Parameters<SpanStore['write']>[0]
}

/**
 * Writes the spans of a new configuration, in its transaction: so an event that is accepted after the change is answered
 * lies behind the beginning of a new connection in every partition, whichever revision its owner has. No lease is needed:
 * spans begin and end here only, under the lock of the configuration.
 *
 * @see contracts/cluster.md §6 [K18]
 */
export async function writeConfigurationSpans(
  queries: Queries,
  { revision, ends, changeOf }: SpansWrite,
): Promise<void> {
  const { put, remove } = changeOf(await queries.rows<Span>(ALL_SPANS))
  await queries.run(PUT_SPANS, [JSON.stringify(put)])
  await queries.run(END_REMOVED, [JSON.stringify(remove), ends])
  await queries.run(PUT_REVISION, [revision, ends])
}

/** The spans and their revision, from one state of the database. */
export async function configurationSpans(pool: PostgresPool): Promise<ConfigurationSpans> {
  const [row] = await pool.query<ConfigurationSpans & Record<string, unknown>>(READ)
  return row ?? { revision: 0, ends: [], spans: [] }
}

const END_REMOVED = `
  UPDATE span SET to_offset = greatest(from_offset, ($2::bigint[])[partition + 1])
  FROM json_to_recordset($1::json) AS row(kind text, resource text)
  WHERE span.kind = row.kind AND span.resource = row.resource AND to_offset IS NULL`
const PUT_REVISION = `
  INSERT INTO span_revision (id, revision, ends) VALUES (1, $1, $2::bigint[])
  ON CONFLICT (id) DO UPDATE SET revision = excluded.revision, ends = excluded.ends`
const READ = `
  SELECT revision, to_json(ends) AS ends, (SELECT coalesce(json_agg(s), '[]') FROM (${ALL_SPANS}) s) AS spans FROM span_revision`
