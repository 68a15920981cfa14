import type { DatabaseSync } from 'node:sqlite'
import type { BacklogRow } from '../backlog-store.ts'
import type { DeadLetterStore } from '../dead-letter-store.ts'
import { LETTERS_EXPIRED_TOGETHER } from '../letters/letter-limits.ts'
import { MAX_BETWEEN_RANGES, type OutcomeStore, type RangeWrite, rangeFrom } from '../outcome-store.ts'
import type { DeadLetterTable } from './letters/dead-letter-table.ts'
import type { OutcomeTables } from './outcomes/outcome-tables.ts'
import type { StoredNames } from './stored-names.ts'

/**
 * The bytes that destinations hold on disk, and their expiry by the storage budget. @see contracts/delivery.md §4
 * [D636]
 */
export class BacklogTable {
  readonly #names: StoredNames
  readonly #letters: DeadLetterTable
  readonly #outcomes: OutcomeTables
  readonly #statements

  constructor(db: DatabaseSync, names: StoredNames, letters: DeadLetterTable, outcomes: OutcomeTables) {
    this.#names = names
    this.#letters = letters
    this.#outcomes = outcomes
    this.#statements = {
      all: db.prepare('SELECT * FROM backlog'),
      countExpired: db.prepare(
        `INSERT INTO backlog (destination, letters, letter_bytes, expired) VALUES (?, 0, 0, ?)
         ON CONFLICT DO UPDATE SET expired = expired + excluded.expired`,
      ),
      growRange: db.prepare(
        `UPDATE ranges SET to_offset = ?1, count = count + ?2, at = ?3 WHERE id =
           (SELECT id FROM ranges WHERE destination = ?4 AND source = ?5 AND partition = ?6 AND outcome = 'expired'
              AND reason = ?7 AND to_offset <= ?8 AND to_offset >= ?8 - ${MAX_BETWEEN_RANGES} ORDER BY id DESC LIMIT 1)`,
      ),
      lostUntil: db.prepare(
        `SELECT coalesce(max(to_offset), 0) AS until FROM ranges
         WHERE destination = ? AND source = ? AND partition = ? AND outcome = 'expired' AND reason = ?`,
      ),
      // Events in flight keep their rows: they will get their own outcome.
      dropWaits: db.prepare(
        `DELETE FROM journeys WHERE destination = ? AND outcome = 'waiting' AND replay = 0 AND partition = ? AND offset < ?
           AND (offset || ' ' || idx) NOT IN (SELECT value FROM json_each(?))`,
      ),
    }
  }

  all(): BacklogRow[] {
    return (this.#statements.all.all() as unknown as Row[]).map((row) => ({
      destinationId: this.#names.text(row.destination),
      letters: row.letters,
      letterBytes: row.letter_bytes,
      expired: row.expired,
    }))
  }

  countExpired(destinationId: string, count: number): void {
    if (count > 0) this.#statements.countExpired.run(this.#names.number(destinationId), count)
  }

  expireWaiting(request: Parameters<OutcomeStore['expireWaiting']>[0], writeRange: (range: RangeWrite) => void): void {
    const { destinationId, partition, before, inFlight, ranges, positions } = request
    const destination = this.#names.number(destinationId)
    const kept = JSON.stringify(inFlight.map(({ offset, index }) => `${offset} ${index}`))
    this.#statements.dropWaits.run(destination, partition, before, kept)
    this.#recordRanges(ranges, writeRange)
    for (const position of positions) this.#outcomes.writePosition(position)
  }

  /** @see OutcomeStore.expireLost */
  expireLost(lost: readonly RangeWrite[], writeRange: (range: RangeWrite) => void): number {
    const ranges = lost.flatMap((range) => {
      const { destinationId, sourceId, partition, reason } = range
      const numbers = [this.#names.number(destinationId), this.#names.number(sourceId!), partition]
      const { until } = this.#statements.lostUntil.get(...numbers, reason) as { until: number }
      return rangeFrom(range, until) ?? []
    })
    return this.#recordRanges(ranges, writeRange)
  }

  /** Expired events of a destination; a range that is near an earlier one extends it. @returns their number. */
  #recordRanges(ranges: readonly RangeWrite[], writeRange: (range: RangeWrite) => void): number {
    for (const range of ranges) {
      const { destinationId, sourceId, partition, toOffset, count, at, reason, fromOffset } = range
      const [destination, source] = [this.#names.number(destinationId), this.#names.number(sourceId!)]
      const grown = this.#statements.growRange.run(
        ...[toOffset, count, at, destination, source, partition, reason, fromOffset],
      )
      if (grown.changes === 0) writeRange(range)
      this.countExpired(destinationId, count)
    }
    return ranges.reduce((sum, { count }) => sum + count, 0)
  }

  /** @see DeadLetterStore.expire */
  expireLetters({ destinationId, partitions, bytes, reason, at }: Parameters<DeadLetterStore['expire']>[0]) {
    const destination = this.#names.number(destinationId)
    const given: number[] = []
    let freed = 0
    for (const row of this.#letters.oldest(destination, partitions, LETTERS_EXPIRED_TOGETHER)) {
      if (freed >= bytes) break
      const letter = this.#letters.byRow(row.id)
      const { partition, offset, index } = letter
      const hasFirst = this.#outcomes.recorded(destination, partition, offset, index).some((each) => !each.replayId)
      this.#outcomes.writeJourney({
        ...letter,
        // If the first delivery has an outcome, this one belongs to a replay.
        replayId: hasFirst ? letter.replayId : null,
        outcome: 'expired',
        reason,
        sizeBytes: row.bytes,
        userKey: 0,
        anonymousKey: 0,
        deliveredRequests: 0,
        firstAttemptAt: null,
        dueAt: null,
        at,
      })
      given.push(row.id)
      freed += row.bytes
    }
    this.#letters.drop(given)
    this.countExpired(destinationId, given.length)
    return { count: given.length, bytes: freed }
  }
}

interface Row {
  destination: number
  letters: number
  letter_bytes: number
  expired: number
}
