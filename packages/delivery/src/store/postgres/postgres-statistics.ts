import {
  type StatisticsStore,
  type StatsReason,
  type StatsRow,
  type StatsWrite,
  SUBJECT_KINDS,
} from '../statistics-store.ts'
import type { StoredNames } from './stored-names.ts'
import type { Transactions } from './transactions.ts'

/** Steps of 300 s, and of 10 s: they have tables of their own. */
export const STATISTICS_TABLES = { long: 'stats', short: 'short_stats' } as const

/**
 * Activity of sources, transformations and destinations, in steps. Every process adds its own: counts add up, and the waiting
 * events of a step are the sum of the last numbers that each process gave.
 */
export class PostgresStatistics implements StatisticsStore {
  readonly #transactions: Transactions
  readonly #names: StoredNames
  readonly #writer: number
  readonly #sql: ReturnType<typeof statementsOf>

  /** @param writer number of this process. */
  constructor(transactions: Transactions, names: StoredNames, writer: number, steps: keyof typeof STATISTICS_TABLES) {
    this.#transactions = transactions
    this.#names = names
    this.#writer = writer
    this.#sql = statementsOf(STATISTICS_TABLES[steps])
  }

  async add({ at, rows, reasons, lastEvents }: StatsWrite): Promise<void> {
    const number = await this.#names.numbers([
      ...rows.map(({ id }) => id),
      ...reasons.flatMap(({ destinationId, reason }) => [destinationId, reason]),
      ...lastEvents.map(([sourceId]) => sourceId),
    ])
    const stats = rows.map(({ kind, id, counts, ...row }) => {
      const [c0 = 0, c1 = 0, c2 = 0, c3 = 0, c4 = 0] = counts
      return { ...row, kind: SUBJECT_KINDS.indexOf(kind), subject: number(id), c0, c1, c2, c3, c4 }
    })
    const ofReasons = reasons.map(({ destinationId, outcome, reason, count }) => {
      return { destination: number(destinationId), outcome, reason: number(reason), events: count }
    })
    const last = lastEvents.map(([sourceId, at]) => ({ source: number(sourceId), at }))
    await this.#transactions.write(async (queries) => {
      await queries.run(this.#sql.putStep, [at])
      await queries.run(this.#sql.addStats, [at, JSON.stringify(stats)])
      await queries.run(this.#sql.putWaiting, [at, JSON.stringify(stats), this.#writer])
      await queries.run(this.#sql.addReasons, [at, JSON.stringify(ofReasons)])
      await queries.run(PUT_LAST, [JSON.stringify(last)])
    })
  }

  async read({ from, to, subjects }: Parameters<StatisticsStore['read']>[0]): ReturnType<StatisticsStore['read']> {
    const { pool } = this.#transactions
    const steps = await pool.query<{ at: number }>(this.#sql.steps, [from, to])
    const sought = await Promise.all(subjects.map(async ([, id]) => (await this.#names.sought(id)) ?? -1))
    const kinds = subjects.map(([kind]) => SUBJECT_KINDS.indexOf(kind))
    const found = await pool.query<FoundRow>(this.#sql.read, [from, to, kinds, sought])
    const rows: (StatsRow & { at: number })[][] = subjects.map(() => [])
    for (const { nr, c0, c1, c2, c3, c4, ...row } of found) {
      const [kind, id] = subjects[nr - 1]!
      rows[nr - 1]!.push({ ...row, kind, id, counts: [c0, c1, c2, c3, c4] })
    }
    return { known: steps.map(({ at }) => at), rows }
  }

  async reasons({ from, to, destinationId }: Parameters<StatisticsStore['reasons']>[0]): Promise<StatsReason[]> {
    const destination = (await this.#names.sought(destinationId)) ?? null
    return this.#transactions.pool.query<StatsReason & Record<string, unknown>>(this.#sql.reasons, [
      destination,
      from,
      to,
    ])
  }

  async lastEvents(): Promise<[sourceId: string, at: number][]> {
    const rows = await this.#transactions.pool.query<{ name: string; at: number }>(
      'SELECT name.name, at FROM last_event JOIN name ON name.id = source',
    )
    return rows.map(({ name, at }) => [name, at])
  }
}

type FoundRow = Pick<StatsRow, 'waiting' | 'durations'> &
  Record<'c0' | 'c1' | 'c2' | 'c3' | 'c4', number> & { readonly nr: number; readonly at: number }

const COUNTS = ['c0', 'c1', 'c2', 'c3', 'c4']
const LISTED = COUNTS.join(', ')
const PUT_LAST = `
  INSERT INTO last_event AS e (source, at) SELECT source, at FROM json_to_recordset($1::json) AS row(source bigint, at bigint)
  ORDER BY source ON CONFLICT (source) DO UPDATE SET at = greatest(e.at, excluded.at)`

/** @param table of the steps; the names of the others begin with it. */
function statementsOf(table: string) {
  return {
    putStep: `INSERT INTO ${table}_step (at) VALUES ($1) ON CONFLICT DO NOTHING`,
    // Its own column `waiting` stays 0: the numbers of the processes stand beside it.
    addStats: `
      INSERT INTO ${table} AS s (kind, subject, at, ${LISTED}, waiting, durations)
      SELECT kind, subject, $1, ${LISTED}, 0, durations FROM json_to_recordset($2::json) AS row(
        kind bigint, subject bigint, ${COUNTS.map((name) => `${name} bigint`).join(', ')}, durations bigint[])
      ORDER BY kind, subject
      ON CONFLICT (kind, subject, at) DO UPDATE SET ${COUNTS.map((name) => `${name} = s.${name} + excluded.${name}`).join(', ')},
        durations = ARRAY(
          SELECT coalesce(a, 0) + coalesce(b, 0)
          FROM unnest(s.durations, excluded.durations) WITH ORDINALITY AS added(a, b, bucket) ORDER BY bucket)`,
    putWaiting: `
      INSERT INTO ${table}_waiting (kind, subject, at, writer, waiting) SELECT kind, subject, $1, $3, waiting
      FROM json_to_recordset($2::json) AS row(kind bigint, subject bigint, waiting bigint)
      ON CONFLICT (kind, subject, at, writer) DO UPDATE SET waiting = excluded.waiting`,
    addReasons: `
      INSERT INTO ${table}_reason AS s (destination, at, outcome, reason, events)
      SELECT destination, $1, outcome, reason, events
      FROM json_to_recordset($2::json) AS row(destination bigint, outcome text, reason bigint, events bigint)
      ORDER BY destination, outcome, reason
      ON CONFLICT (destination, at, outcome, reason) DO UPDATE SET events = s.events + excluded.events`,
    steps: `SELECT at FROM ${table}_step WHERE at >= $1 AND at < $2 ORDER BY at`,
    read: `
      SELECT subject.nr, s.at, ${COUNTS.map((name) => `s.${name}`).join(', ')}, to_json(s.durations) AS durations,
        (SELECT coalesce(sum(w.waiting), 0) FROM ${table}_waiting w
         WHERE w.kind = s.kind AND w.subject = s.subject AND w.at = s.at)::bigint AS waiting
      FROM unnest($3::bigint[], $4::bigint[]) WITH ORDINALITY AS subject(kind, id, nr)
      JOIN ${table} s ON s.kind = subject.kind AND s.subject = subject.id AND s.at >= $1 AND s.at < $2
      ORDER BY subject.nr, s.at`,
    reasons: `
      SELECT d.name AS "destinationId", s.outcome, r.name AS reason, sum(s.events)::bigint AS count
      FROM ${table}_reason s JOIN name d ON d.id = s.destination JOIN name r ON r.id = s.reason
      WHERE ($1::bigint IS NULL OR s.destination = $1) AND s.at >= $2 AND s.at < $3 GROUP BY d.name, s.outcome, r.name`,
  }
}
