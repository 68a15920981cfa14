import { DatabaseSync } from 'node:sqlite'
import type { Span } from '../span-store.ts'
import { inTransaction } from './database.ts'
import { LetterRanges } from './letters/letter-ranges.ts'
import { OutcomeTables } from './outcomes/outcome-tables.ts'
import { VersionTable } from './outcomes/version-table.ts'
import { StoredNames } from './stored-names.ts'

/**
 * The reader of this name has the position of the end of the log at the last backup: later records get later offsets.
 */
const BACKUP_READER = 'backup'

export interface CopiedMoment {
  /** Resources of the configuration, which is copied after the delivery state. */
  readonly spans: readonly Span[]
  /** End of the log in every partition, which is copied last or omitted. */
  readonly logEnd: number
}

/**
 * Adjusts a copy of delivery.db to the configuration and the log that were copied after it.
 *
 * Without this, a connection created between the two copies would begin at the end of the restored log and miss its
 * events. Spans that ended with their connection stay: the next start uses them to record the waiting events as
 * discarded.
 *
 * @param file the copy; no other process has it open.
 * @see contracts/control-plane.md §10 [D725]
 */
export function alignDeliveryCopy(file: string, { spans, logEnd }: CopiedMoment): void {
  using db = new DatabaseSync(file)
  inTransaction(db, () => {
    // The run that made the copy did not end uncleanly.
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
