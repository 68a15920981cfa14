import type { KnownRefusal, RefusalBook } from '@millrace/gateway'
import { Turns } from '@millrace/pipeline/cluster'
import type { PostgresPool } from '@millrace/postgres'
import type { Clock } from '@millrace/std'
import type { ServerLogger } from '../../logger.ts'

const TURN_MS = 1_000
/** As many as an embedded server knows, over all gateways. */
const MAX_KNOWN = 1_000

/** The last 1,000 refused requests of all gateways. */
export class SharedRefusals {
  readonly #pool: PostgresPool

  constructor(pool: PostgresPool) {
    this.#pool = pool
  }

  /** Newest first. @param sourceId undefined: all sources. */
  async list(sourceId?: string): Promise<KnownRefusal[]> {
    const rows = await this.#pool.query<{ refusal: string }>(
      `SELECT refusal FROM refused_request WHERE $1::text IS NULL OR source = $1 ORDER BY at DESC, number DESC LIMIT $2`,
      [sourceId ?? null, MAX_KNOWN],
    )
    return rows.map(({ refusal }) => JSON.parse(refusal) as KnownRefusal)
  }

  async add(refusals: readonly KnownRefusal[]): Promise<void> {
    await this.#pool.query(
      `WITH added AS (
         INSERT INTO refused_request (at, source, refusal)
         SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[]) RETURNING number
       )
       DELETE FROM refused_request WHERE number <= (SELECT max(number) FROM added) - $4`,
      [
        refusals.map(({ at }) => at),
        refusals.map(({ sourceId }) => sourceId),
        refusals.map((refusal) => JSON.stringify(refusal)),
        MAX_KNOWN,
      ],
    )
  }
}

/** Writes what one gateway refuses, every second. While Postgres is away its last 1,000 stay in memory. */
export class RefusalReports implements AsyncDisposable {
  readonly #book: Pick<RefusalBook, 'after'>
  readonly #shared: SharedRefusals
  readonly #turns: Turns
  #told = 0

  constructor(book: Pick<RefusalBook, 'after'>, shared: SharedRefusals, clock: Clock, logger: ServerLogger) {
    this.#book = book
    this.#shared = shared
    const onError = (error: Error) => logger.warn({ err: error }, 'refused requests cannot be written')
    this.#turns = new Turns(clock, TURN_MS, () => this.#report(), onError)
    this.#turns.start()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turns.stop()
    // They are for people who look now: a stop does not fail because of them.
    await this.#report().catch(() => {})
  }

  async #report(): Promise<void> {
    const { refusals, count } = this.#book.after(this.#told)
    if (refusals.length > 0) await this.#shared.add(refusals)
    this.#told = count
  }
}
