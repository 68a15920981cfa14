import type { DatabaseSync } from 'node:sqlite'
import { type RunBefore, UNCLEAN_WITHIN_MS, type UnderWay } from '../run-store.ts'

/** How the runs of the server ended, and which event ran alone in the last one. @see decision 0071 */
export class RunTable {
  readonly #db: DatabaseSync
  readonly #note
  #isNoted = false

  constructor(db: DatabaseSync) {
    this.#db = db
    this.#note = db.prepare('INSERT OR REPLACE INTO under_way (id, event, reads) VALUES (1, ?, 0)')
  }

  /** @param now wall clock; a stored time later than now was written before the clock was set back. */
  begin(now: number): RunBefore {
    const db = this.#db
    db.prepare('UPDATE runs SET noticed_at = ? WHERE noticed_at IS NULL').run(now)
    db.prepare('DELETE FROM runs WHERE noticed_at <= ? OR noticed_at > ?').run(now - UNCLEAN_WITHIN_MS, now)
    const { ends } = db.prepare('SELECT count(*) AS ends FROM runs').get() as { ends: number }
    db.exec('INSERT INTO runs (noticed_at) VALUES (NULL)')
    const noted = db.prepare('SELECT event FROM under_way').get() as { event: string } | undefined
    this.#isNoted = noted !== undefined
    return { uncleanEnds: ends, underWay: noted && (JSON.parse(noted.event) as UnderWay) }
  }

  /** Ends the current run in order. */
  end(): void {
    this.#db.exec('DELETE FROM runs WHERE noticed_at IS NULL')
    this.clear()
  }

  note(event: UnderWay): void {
    this.#note.run(JSON.stringify(event))
    this.#isNoted = true
  }

  /** The noted event has its outcome, or waits. */
  clear(): void {
    if (this.#isNoted) this.#db.exec('DELETE FROM under_way')
    this.#isNoted = false
  }

  /** Counts that a start will read the payload of the noted event. @returns the number of earlier starts that did. */
  countRead(): number {
    const row = this.#db.prepare('UPDATE under_way SET reads = reads + 1 RETURNING reads - 1 AS before').get()
    return (row as { before: number } | undefined)?.before ?? 0
  }
}
