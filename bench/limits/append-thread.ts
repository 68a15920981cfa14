import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/** Appends each group of bodies in one transaction; `FULL` makes its commit an fsync. */

const database = new DatabaseSync(workerData as string)
database.exec(`
  PRAGMA page_size = 16384;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE record (position INTEGER PRIMARY KEY, body BLOB NOT NULL);
`)
const insert = database.prepare('INSERT INTO record (body) VALUES (?)')

parentPort!.on('message', ({ bytes, ends }: { bytes: Uint8Array; ends: number[] }) => {
  database.exec('BEGIN')
  let start = 0
  for (const end of ends) {
    insert.run(bytes.subarray(start, end))
    start = end
  }
  database.exec('COMMIT')
  parentPort!.postMessage(undefined)
})
