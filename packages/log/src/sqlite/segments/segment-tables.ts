import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { STREAMS } from '../../event-log.ts'
import { streamNumber } from './stream-number.ts'
import { streamTable } from './stream-table.ts'

export function hasTable(database: DatabaseSync, name: string): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined
}

export function createTables(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE')
  for (const stream of STREAMS) createStreamTable(database, streamTable(streamNumber(0, stream)))
  database.exec(`
    CREATE TABLE IF NOT EXISTS tally (
      stream INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, counts TEXT NOT NULL,
      PRIMARY KEY (stream, first)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS probe (id INTEGER PRIMARY KEY, written INTEGER NOT NULL) STRICT;
    COMMIT`)
}

/** Creates the table of a stream, or brings one of an earlier release, which has no rules, up to date. */
export function createStreamTable(database: DatabaseSync, table: string): void {
  database.exec(
    `CREATE TABLE IF NOT EXISTS ${table} (
      offset INTEGER PRIMARY KEY, crc INTEGER NOT NULL, bytes BLOB NOT NULL, rule INTEGER
    ) STRICT`,
  )
  if (!hasRules(database, table)) database.exec(`ALTER TABLE ${table} ADD COLUMN rule INTEGER`)
}

export function hasRules(database: DatabaseSync, table: string): boolean {
  return database.prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = 'rule'").get(table) !== undefined
}

/** The statements that write a segment. */
export interface Writes {
  readonly begin: StatementSync
  readonly commit: StatementSync
  readonly rollback: StatementSync
  readonly insertTally: StatementSync
  readonly probe: StatementSync
}

export function prepareWrites(database: DatabaseSync): Writes {
  return {
    begin: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
    rollback: database.prepare('ROLLBACK'),
    insertTally: database.prepare('INSERT INTO tally (stream, first, last, counts) VALUES (?, ?, ?, ?)'),
    probe: database.prepare('INSERT INTO probe VALUES (1, 1) ON CONFLICT DO UPDATE SET written = written + 1'),
  }
}
