import { DatabaseSync } from 'node:sqlite'
import type { Span } from '../span-store.ts'
import { inTransaction } from './database.ts'
import { LetterRanges } from './letters/letter-ranges.ts'
import { OutcomeTables } from './outcomes/outcome-tables.ts'
import { VersionTable } from './outcomes/version-table.ts'
import { StoredNames } from './stored-names.ts'

/** The reader of this name has come as far as the log of the last backup: no later record gets an offset before that. */
const BACKUP_READER = 'backup'

export interface CopiedMoment {
  /** Of the configuration that is copied after the delivery state. */
  readonly spans: readonly Span[]
  /** The end of the log of partition 0, which is copied after both or left out. */
  readonly logEnd: number
}

/**
 * Brings a copy of delivery.db to the configuration and the log that were copied after it.
 *
 * A connection that was made in between would else begin at the end of the restored log, and miss what it was there for.
 * Spans that have ended with their connection stay: the next start records from them that what waited was discarded.
 *
 * @param file the copy, which nobody else has open.
 * @see contracts/control-plane.md §10 [D725]
 */
export function alignDeliveryCopy(file: string, { spans, logEnd }: CopiedMoment): void {
  using db = new DatabaseSync(file)
  inTransaction(db, () => {
    // The run that made the copy is not one that ended without a stop.
    db.exec('DELETE FROM runs; DELETE FROM under_way')
    const put = db.prepare('INSERT OR REPLACE INTO spans VALUES (?, ?, ?, ?, ?, ?, ?)')
    for (const { kind, resource, sourceId, destinationId, partition, fromOffset, toOffset } of spans) {
      put.run(kind, resource, sourceId, destinationId, partition, fromOffset, toOffset)
    }
    const names = new StoredNames(db)
    new OutcomeTables(db, names, new VersionTable(db), new LetterRanges(db, names)).writePosition({
      reader: BACKUP_READER,
      partition: 0,
      stream: 0,
      position: { offset: logEnd, index: 0 },
    })
  })
}
