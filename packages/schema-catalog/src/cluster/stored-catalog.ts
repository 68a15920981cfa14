import { assertHeld, type HeldLease, notificationOf, type PostgresPool, type Queries } from '@millrace/postgres'

/** Of a row. */
const PIECE_BYTES = 1024 * 1024
/** Rows that one statement deletes, so that it ends in time. */
const MAX_DELETED = 64
/** Notifications that a wish or a request was made, and that there is a change. */
export const WISHES = 'catalog wishes'
export const CHANGES = 'catalog changes'

export interface StoredCatalogState {
  /** The number of the last change. */
  readonly change: number
  /** The number of the last question that asked for a commit. */
  readonly wish: number
  /** Everything that was accepted before this wish is in the last change. */
  readonly answered: number
  /** Whether a request waits for the holder. */
  readonly hasRequest: boolean
}

/** A file that is stored as a snapshot. */
export interface SnapshotFile {
  readonly size: number
  read(from: number, to: number): Promise<Uint8Array>
}

export interface SnapshotWrite {
  /** The last change that it contains. A number that no change has yet makes the snapshot itself that change. */
  readonly change: number
  readonly file: SnapshotFile
  /** The request that it carries out, if any. */
  readonly request: { readonly id: number; readonly outcome: string } | undefined
}

/** The catalog in Postgres: its changes, the last snapshot, and who waits for a commit. @see contracts/cluster.md §8 [K12] */
export class StoredCatalog {
  readonly #pool: PostgresPool

  /** @param pool of a schema that has `catalogSchema`. */
  constructor(pool: PostgresPool) {
    this.#pool = pool
  }

  async state(): Promise<StoredCatalogState> {
    const [state] = await this.#pool.query<StoredCatalogState>(
      `SELECT change, wish, answered, EXISTS (SELECT 1 FROM catalog_request WHERE outcome IS NULL) AS "hasRequest"
       FROM catalog_state`,
    )
    return state!
  }

  /** @returns undefined if only a snapshot has it. */
  async change(change: number): Promise<Uint8Array | undefined> {
    const rows = await this.#pool.query<{ bytes: Buffer }>(
      'SELECT bytes FROM catalog_change WHERE change = $1 ORDER BY piece',
      [change],
    )
    return rows.length === 0 ? undefined : Buffer.concat(rows.map(({ bytes }) => bytes))
  }

  /** What a load reads beside the snapshot. */
  async sizeOfChanges(): Promise<{ readonly changes: number; readonly bytes: number }> {
    const [size] = await this.#pool.query<{ changes: number; bytes: number }>(
      `SELECT count(DISTINCT change) AS changes, coalesce(sum(octet_length(bytes)), 0)::bigint AS bytes FROM catalog_change`,
    )
    return size!
  }

  /** The last complete snapshot, if there is one. */
  async snapshot(): Promise<{ readonly change: number; readonly pieces: number } | undefined> {
    const [newest] = await this.#pool.query<{ change: number; pieces: number }>(
      `SELECT change, pieces FROM catalog_snapshot GROUP BY change, pieces HAVING count(*) = pieces
       ORDER BY change DESC LIMIT 1`,
    )
    return newest
  }

  /** @returns undefined if a newer snapshot has taken its place. */
  async piece(change: number, piece: number): Promise<Uint8Array | undefined> {
    const [row] = await this.#pool.query<{ bytes: Buffer }>(
      'SELECT bytes FROM catalog_snapshot WHERE change = $1 AND piece = $2',
      [change, piece],
    )
    return row?.bytes
  }

  /** @param answered the last wish that it fulfils. @throws LeaseLostError: then nothing is written. */
  async write(lease: HeldLease, change: number, bytes: Uint8Array, answered: number): Promise<void> {
    await this.#fenced(lease, async (queries) => {
      for (let piece = 0; piece * PIECE_BYTES < bytes.length; piece++) {
        const part = bytes.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES)
        await queries.run('INSERT INTO catalog_change VALUES ($1, $2, $3)', [change, piece, asBuffer(part)])
      }
      const updated = await queries.run(
        'UPDATE catalog_state SET change = $1, answered = greatest(answered, $2) WHERE change = $1 - 1',
        [change, answered],
      )
      if (updated !== 1) throw new Error(`change ${change} of the catalog does not follow the last one`)
      await this.#notify(queries, CHANGES)
    })
  }

  /** Says that there was nothing to commit. @throws LeaseLostError */
  async answer(lease: HeldLease, answered: number): Promise<void> {
    await this.#fenced(lease, async (queries) => {
      await queries.run('UPDATE catalog_state SET answered = greatest(answered, $1)', [answered])
      await this.#notify(queries, CHANGES)
    })
  }

  /**
   * Writes a snapshot piece by piece; it counts from its last piece on, if its change is the last one then or the next one.
   *
   * @throws LeaseLostError, or RequestWithdrawnError if nobody waits for the request any more: then the snapshot does not count.
   */
  async writeSnapshot(lease: HeldLease, { change, file, request }: SnapshotWrite): Promise<void> {
    const pieces = Math.ceil(file.size / PIECE_BYTES)
    // An earlier holder may have left some of another file.
    await this.#delete(lease, 'catalog_snapshot', 'change = $1', change)
    for (let piece = 0; piece < pieces; piece++) {
      const bytes = await file.read(piece * PIECE_BYTES, Math.min(file.size, (piece + 1) * PIECE_BYTES))
      await this.#fenced(lease, async (queries) => {
        await queries.run('INSERT INTO catalog_snapshot VALUES ($1, $2, $3, $4)', [
          ...[change, piece, pieces],
          asBuffer(bytes),
        ])
        if (request !== undefined) await queries.run(WORKED_AT, [request.id])
        if (piece < pieces - 1) return
        if (request !== undefined) await settle(queries, request)
        await queries.run('UPDATE catalog_state SET change = greatest(change, $1)', [change])
        await this.#notify(queries, CHANGES)
      })
    }
  }

  /** Removes what the last snapshot contains or replaces, few rows at a time. @throws LeaseLostError */
  async tidy(lease: HeldLease): Promise<void> {
    const newest = await this.snapshot()
    if (newest === undefined) return
    await this.#delete(lease, 'catalog_change', 'change <= $1', newest.change)
    await this.#delete(lease, 'catalog_snapshot', 'change < $1', newest.change)
  }

  /** Asks the holder for a commit. @returns the number of the wish. */
  async wish(): Promise<number> {
    const [row] = await this.#pool.query<{ wish: number }>(
      `WITH wished AS (UPDATE catalog_state SET wish = wish + 1 RETURNING wish)
       SELECT wish, pg_notify($1, $2) FROM wished`,
      this.#notification(WISHES),
    )
    return row!.wish
  }

  /** Asks the holder for a removal or a rebuild. @returns the id of the request. @throws as `PostgresPool.write` does. */
  request(kind: CatalogRemoval['kind'], source: string | null): Promise<number> {
    return this.#pool.write(async (queries) => {
      const sql = 'INSERT INTO catalog_request (kind, source) VALUES ($1, $2) RETURNING id'
      const [row] = await queries.rows<{ id: number }>(sql, [kind, source])
      await this.#notify(queries, WISHES)
      return row!.id
    })
  }

  /** What became of a request. */
  async progress(id: number): Promise<RemovalProgress> {
    const sql = 'SELECT outcome, at::text AS "workedAt" FROM catalog_request WHERE id = $1'
    const [row] = await this.#pool.query<RemovalProgress & Record<string, unknown>>(sql, [id])
    return row ?? { outcome: null, workedAt: undefined }
  }

  /** Removes a request whose outcome is known. Without this call it is removed after some minutes. */
  async forget(id: number): Promise<void> {
    await this.#pool.query('DELETE FROM catalog_request WHERE id = $1', [id])
  }

  /** Takes a request back. @returns false if it has an outcome. */
  async withdraw(id: number): Promise<boolean> {
    const sql = 'DELETE FROM catalog_request WHERE id = $1 AND outcome IS NULL RETURNING id'
    return (await this.#pool.query(sql, [id])).length > 0
  }

  /** The oldest request without an outcome. Those of control processes that have ended are forgotten. */
  async nextRequest(): Promise<CatalogRemoval | undefined> {
    const [request] = await this.#pool.query<CatalogRemoval>(
      `WITH forgotten AS (DELETE FROM catalog_request WHERE at < now() - interval '5 minutes')
       SELECT id, kind, source FROM catalog_request
       WHERE outcome IS NULL AND at >= now() - interval '5 minutes' ORDER BY id LIMIT 1`,
    )
    return request
  }

  /** Gives a request an outcome that changes nothing. @throws LeaseLostError or RequestWithdrawnError */
  async settle(lease: HeldLease, id: number, outcome: string): Promise<void> {
    await this.#fenced(lease, async (queries) => {
      await settle(queries, { id, outcome })
      await this.#notify(queries, CHANGES)
    })
  }

  async #delete(lease: HeldLease, table: string, where: string, change: number): Promise<void> {
    const some = `SELECT change, piece FROM ${table} WHERE ${where} LIMIT ${MAX_DELETED}`
    for (let isDone = false; !isDone; ) {
      await this.#fenced(lease, async (queries) => {
        const deleted = await queries.run(`DELETE FROM ${table} WHERE (change, piece) IN (${some})`, [change])
        isDone = deleted < MAX_DELETED
      })
    }
  }

  #fenced(lease: HeldLease, work: (queries: Queries) => Promise<void>): Promise<void> {
    return this.#pool.write(async (queries) => {
      await assertHeld(queries, lease)
      await work(queries)
    })
  }

  async #notify(queries: Queries, topic: string): Promise<void> {
    await queries.rows('SELECT pg_notify($1, $2)', this.#notification(topic))
  }

  #notification(topic: string): string[] {
    const { channel, payload } = notificationOf(this.#pool.schema, topic)
    return [channel, payload]
  }
}

export interface CatalogRemoval {
  readonly id: number
  readonly kind: 'purge' | 'rebuild'
  /** Of a purge. */
  readonly source: string | null
}

export interface RemovalProgress {
  /** Null: it has none yet. */
  readonly outcome: string | null
  /** Changes while the holder works at it; undefined: there is no such request any more. */
  readonly workedAt: string | undefined
}

/** Nobody waits for it any more. */
export class RequestWithdrawnError extends Error {
  override name = 'RequestWithdrawnError'

  constructor() {
    super('a request to the catalog was withdrawn')
  }
}

const WORKED_AT = 'UPDATE catalog_request SET at = now() WHERE id = $1'

async function settle(queries: Queries, { id, outcome }: { id: number; outcome: string }): Promise<void> {
  const sql = 'UPDATE catalog_request SET outcome = $2 WHERE id = $1 AND outcome IS NULL'
  if ((await queries.run(sql, [id, outcome])) !== 1) throw new RequestWithdrawnError()
}

/** The form that the driver sends as it is. */
function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
