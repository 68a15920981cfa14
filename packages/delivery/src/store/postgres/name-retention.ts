import type { Queries } from '@millrace/postgres'
import type { Clock } from '@millrace/std'
import type { Transactions } from './transactions.ts'

/** A run reads a part of every row with texts. */
const EVERY_MS = 6 * 3_600_000
/** Much longer than a process remembers a number (stored-names.ts). */
const UNUSED_KEPT = `interval '24 hours'`
const STEP = 20_000

/**
 * Drops the texts of dead letters and statistics that no row uses any more, a day after it found that. Ids stay: there are few.
 * A process that looks a text up ends its time (stored-names.ts). The release before this one does not: nothing is dropped while
 * processes of several releases run.
 */
export class NameRetention {
  readonly #transactions: Transactions
  readonly #clock: Clock
  #ranAt = Number.NEGATIVE_INFINITY

  constructor(transactions: Transactions, clock: Clock) {
    this.#transactions = transactions
    this.#clock = clock
  }

  /** @param begin what each transaction begins with. */
  async tidy(begin: (queries: Queries) => Promise<void>): Promise<void> {
    const { pool } = this.#transactions
    const now = this.#clock.monotonic()
    if (now - this.#ranAt < EVERY_MS) return
    const [members] = await pool.query<{ versions: number }>(VERSIONS)
    if (members!.versions > 1) return
    const used = await this.#used()
    for (let after = 0; ; ) {
      const texts = await pool.query<{ id: number }>(TEXTS, [after])
      if (texts.length === 0) break
      const ids = texts.map(({ id }) => id)
      const unused = ids.filter((id) => !used.has(id))
      await this.#transactions.write(async (queries) => {
        await begin(queries)
        await queries.run(FIND_USED, [ids.filter((id) => used.has(id))])
        await queries.run(DROP_UNUSED, [unused])
        await queries.run(FIND_UNUSED, [unused])
      })
      after = ids.at(-1)!
    }
    this.#ranAt = now
  }

  async #used(): Promise<Set<number>> {
    const { pool } = this.#transactions
    const used = new Set<number>()
    for (const sql of [LETTERS, RANGES]) {
      for (let after: number | null = -1; after !== null; ) {
        const [step]: { last: number | null; used: number[] }[] = await pool.query(sql, [after])
        for (const id of step!.used) used.add(id)
        after = step!.last
      }
    }
    for (const { id } of await pool.query<{ id: number }>(COUNTED)) used.add(id)
    return used
  }
}

const VERSIONS = `SELECT count(DISTINCT version) AS versions FROM member WHERE until > now() - interval '1 hour'`
/** No id and no name of a reader has another form. */
const TEXTS = `SELECT id FROM name WHERE id > $1 AND name !~ '^[A-Za-z0-9_-]{1,40}$' ORDER BY id LIMIT ${STEP}`
const FIND_USED = 'UPDATE name SET unused_since = NULL WHERE id = ANY ($1) AND unused_since IS NOT NULL'
const FIND_UNUSED = 'UPDATE name SET unused_since = now() WHERE id = ANY ($1) AND unused_since IS NULL'
const DROP_UNUSED = `DELETE FROM name WHERE id = ANY ($1) AND unused_since < now() - ${UNUSED_KEPT}`

const LETTERS = usedBy('dead_letter', 'id')
const RANGES = usedBy('letter_range', 'first')
const COUNTED = `
  SELECT reason AS id FROM letter_group UNION SELECT reason FROM stats_reason UNION SELECT reason FROM short_stats_reason`

function usedBy(table: string, key: string): string {
  return `
    WITH step AS (
      SELECT ${key} AS key, reason, last_answer, end_reason FROM ${table} WHERE ${key} > $1 ORDER BY ${key} LIMIT ${STEP}
    )
    SELECT (SELECT max(key) FROM step) AS last, to_json(ARRAY(
      SELECT DISTINCT of_row FROM step, unnest(ARRAY[reason, last_answer, end_reason]) AS of_row WHERE of_row IS NOT NULL
    )) AS used`
}
