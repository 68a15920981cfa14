import type { DatabaseSync } from 'node:sqlite'
import type { TidyRequest } from '../../delivery-store.ts'

/** Number of rows deleted in one step. */
const STEP = 1_000
const HOUR_MS = 3_600_000

/**
 * Deletes traces: first those past their time, then the oldest while there are too many, delivered events first. Waits
 * and open dead letters are not traces: they stay, and do not count.
 *
 * @see contracts/delivery.md §8 [D624]
 */
export class TraceRetention {
  readonly #db: DatabaseSync
  readonly #statements

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#statements = {
      oldBlocks: db.prepare('DELETE FROM blocks WHERE last_at < ?'),
      oldJourneys: db.prepare("DELETE FROM journeys WHERE outcome <> 'waiting' AND changed_at < ?"),
      oldLetters: db.prepare('DELETE FROM dead_letters WHERE state > 0 AND state >= 2 AND state_at < ?'),
      oldRanges: db.prepare('DELETE FROM letter_ranges WHERE state > 0 AND state_at < ?'),
      oldCounts: db.prepare('DELETE FROM delivered_by_hour WHERE hour < ?'),
      goneRanges: db.prepare('DELETE FROM ranges WHERE partition = ? AND to_offset < ?'),
      firstBlocks: db.prepare(
        'DELETE FROM blocks WHERE id IN (SELECT id FROM blocks ORDER BY id LIMIT ?) RETURNING last_at AS at',
      ),
      firstJourneys: db.prepare(
        `DELETE FROM journeys WHERE id IN
           (SELECT id FROM journeys WHERE outcome <> 'waiting' ORDER BY changed_at LIMIT ?) RETURNING changed_at AS at`,
      ),
      dropped: db.prepare(
        `INSERT INTO traces_dropped (id, until) VALUES (1, ?)
         ON CONFLICT DO UPDATE SET until = max(until, excluded.until)`,
      ),
      droppedUntil: db.prepare('SELECT until FROM traces_dropped'),
      // An event that waits for delivery is not a trace; the storage budget counts its payload.
      waitingBytes: db.prepare(
        `SELECT (SELECT coalesce(sum(letter_bytes), 0) FROM backlog)
           + (SELECT coalesce(sum(packed_bytes - event_bytes), 0) FROM letter_ranges WHERE state = 0)
           + (SELECT coalesce(sum(length(bytes)), 0) FROM kept_records) AS bytes`,
      ),
      indexBytes: db.prepare('SELECT coalesce(sum(length(entries)), 0) AS bytes FROM message_hashes'),
    }
  }

  /** @see OutcomeStore.droppedUntil */
  droppedUntil(): number | undefined {
    return this.#statements.droppedUntil.get()?.['until'] as number | undefined
  }

  tidy({ finalBefore, logOldest, maxBytes }: TidyRequest): void {
    const { oldBlocks, oldJourneys, oldLetters, oldRanges, oldCounts, goneRanges } = this.#statements
    const { firstBlocks, firstJourneys } = this.#statements
    for (const drop of [oldBlocks, oldJourneys, oldLetters, oldRanges]) {
      if (drop.run(finalBefore).changes > 0) this.#statements.dropped.run(finalBefore)
    }
    oldCounts.run(Math.floor(finalBefore / HOUR_MS))
    for (const { partition, offset } of logOldest) goneRanges.run(partition, offset)
    // The index of messageIds lasts as long as the log: it is no trace.
    const { bytes: indexBytes } = this.#statements.indexBytes.get() as { bytes: number }
    for (const drop of [firstBlocks, firstJourneys]) {
      while (this.#usedBytes() - indexBytes > maxBytes) {
        const left = drop.all(STEP) as { at: number }[]
        if (left.length === 0) break
        // An outcome follows its event: an event accepted after the last of them has all its traces.
        this.#statements.dropped.run(Math.max(...left.map(({ at }) => at)) + 1)
      }
    }
    this.#db.exec('PRAGMA incremental_vacuum')
  }

  #usedBytes(): number {
    const { page_count } = this.#db.prepare('PRAGMA page_count').get() as { page_count: number }
    const { freelist_count } = this.#db.prepare('PRAGMA freelist_count').get() as { freelist_count: number }
    const { page_size } = this.#db.prepare('PRAGMA page_size').get() as { page_size: number }
    const { bytes } = this.#statements.waitingBytes.get() as { bytes: number }
    return (page_count - freelist_count) * page_size - bytes
  }
}
