import type { DatabaseSync } from 'node:sqlite'
import type { BlockWrite, Flush, RefusedRow } from '../../outcomes/flush.ts'
import { countDelivered, ENTRY_BYTES } from '../../outcomes/outcome-block.ts'
import type { BacklogTable } from '../backlog-table.ts'
import { inTransaction } from '../database.ts'
import type { JobTable } from '../jobs/job-table.ts'
import type { DeadLetterTable } from '../letters/dead-letter-table.ts'
import type { ReplayedLetters } from '../letters/replayed-letters.ts'
import type { RunTable } from '../run-table.ts'
import type { StoredNames } from '../stored-names.ts'
import { writable } from '../writable.ts'
import type { OutcomeTables } from './outcome-tables.ts'
import type { VersionTable } from './version-table.ts'

export interface FlushTables {
  readonly db: DatabaseSync
  readonly names: StoredNames
  readonly versions: VersionTable
  readonly outcomes: OutcomeTables
  readonly deadLetters: DeadLetterTable
  readonly jobs: JobTable
  readonly replayed: ReplayedLetters
  readonly backlog: BacklogTable
  readonly runs: RunTable
}

/** Calls back for each row of a part of a flush. */
type ForEach = <Part extends keyof Flush>(part: Part, write: (row: Flush[Part][number]) => void) => void

/** Primary result codes of SQLite for a fault in one row: too large, constraint violated, wrong type, out of range. */
const OF_A_ROW: ReadonlySet<unknown> = new Set([18, 19, 20, 25])

/**
 * Writes the outcomes of all destinations in one transaction. If SQLite refuses a row because of its content, and not
 * because of the disk, the writer retries row by row to find it: one bad row never delays the outcomes of others.
 */
export class FlushWriter {
  readonly #tables: FlushTables

  constructor(tables: FlushTables) {
    this.#tables = tables
  }

  /** @returns the rows that cannot be written; then nothing is written. @throws errors of the disk or the database. */
  write(flush: Flush): RefusedRow[] {
    try {
      this.#inTransaction(() => this.#write(flush, together(flush), false))
      return []
    } catch (error) {
      if (!isOfARow(error)) throw error
      return this.#oneByOne(flush)
    }
  }

  /** Outcomes of a replay of the log count for the replay. */
  writeBlock(block: BlockWrite): void {
    const { outcomes, jobs } = this.#tables
    outcomes.writeBlock(block)
    if (block.replayId === null) return
    const delivered = countDelivered(block.entries)
    jobs.countOutcomes(block.replayId, { delivered, filtered: block.entries.length / ENTRY_BYTES - delivered })
  }

  /** Writes the flush if every row can be written. */
  #oneByOne(flush: Flush): RefusedRow[] {
    const { db } = this.#tables
    const refused: RefusedRow[] = []
    const forEach: ForEach = (part, write) => {
      for (const [at, row] of flush[part].entries()) {
        db.exec('SAVEPOINT one_row')
        try {
          write(row)
        } catch (error) {
          if (!isOfARow(error)) throw error
          db.exec('ROLLBACK TO one_row')
          refused.push({ part, at, cause: (error as Error).message })
        }
        db.exec('RELEASE one_row')
      }
    }
    try {
      this.#inTransaction(() => {
        this.#write(flush, forEach, true)
        if (refused.length > 0) throw new UndoneError()
      })
    } catch (error) {
      if (!(error instanceof UndoneError)) throw error
    }
    return refused
  }

  #write(flush: Flush, forEach: ForEach, isOneByOne: boolean): void {
    const { db, names, versions, outcomes, deadLetters, jobs, replayed, backlog, runs } = this.#tables
    forEach('versions', (each) => versions.write(names.number(each.destinationId), each))
    forEach('blocks', (block) => this.writeBlock(block))
    forEach('replaced', (place) => outcomes.removeJourney(place))
    forEach('journeys', (journey) => {
      outcomes.writeJourney(journey)
      const { replayId, outcome } = journey
      if (replayId !== null && outcome === 'delivered') jobs.countOutcomes(replayId, { delivered: 1 })
      if (replayId === null && outcome === 'expired') backlog.countExpired(journey.destinationId, 1)
    })
    forEach('deadLetters', (letter) => {
      outcomes.removeJourney(letter)
      if (letter.replayId !== null) jobs.countOutcomes(letter.replayId, { deadLettered: 1 })
      if (isOneByOne) deadLetters.write([letter])
    })
    // Many similar rows share one row.
    if (!isOneByOne) deadLetters.write(flush.deadLetters)
    forEach('replayed', (each) => replayed.write(each))
    forEach('positions', (position) => outcomes.writePosition(position))
    const count = db.prepare(
      `INSERT INTO delivered_by_hour (destination, hour, delivered) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET delivered = delivered + excluded.delivered`,
    )
    forEach('delivered', (each) => {
      count.run(...writable([names.number(each.destinationId), each.hour, each.count]))
    })
    forEach('rested', () => runs.clear())
  }

  #inTransaction(work: () => void): void {
    const { db, names, outcomes } = this.#tables
    try {
      inTransaction(db, work)
    } catch (error) {
      names.forget()
      outcomes.closeBlocks()
      throw error
    }
  }
}

/** Rolls the transaction back. */
class UndoneError extends Error {
  override name = 'UndoneError'
  readonly code = 'UNDONE'
}

function together(flush: Flush): ForEach {
  return (part, write) => {
    for (const row of flush[part]) write(row)
  }
}

/** Whether the content of a row caused an error: then the disk and the database work. */
function isOfARow(error: unknown): boolean {
  const { code, errcode } = error as NodeJS.ErrnoException & { errcode?: number }
  return code !== 'ERR_SQLITE_ERROR' || OF_A_ROW.has(errcode! & 0xff)
}
