import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { refuseEmptied } from './damaged-segment.ts'

/** Checkpoints a segment on a separate connection, while another one may still read it. */
export function checkpointFile(path: string): void {
  refuseEmptied(path)
  // Throws if the segment was set aside: opening would create it anew.
  statSync(path)
  const database = new DatabaseSync(path, { timeout: 5_000 })
  try {
    database.exec('PRAGMA synchronous = FULL')
    checkpoint(database)
  } finally {
    database.close()
  }
}

/** Moves the WAL into the database file. */
export function checkpoint(database: DatabaseSync): void {
  const result = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { busy: number }
  if (result.busy !== 0) throw new Error('segment is busy and cannot be checkpointed')
}
