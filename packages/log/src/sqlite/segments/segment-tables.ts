import type { DatabaseSync, StatementSync } from 'node:sqlite'

export function hasTable(database: DatabaseSync, name: string): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined
}

export function createTables(database: DatabaseSync): void {
  database.exec(`
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS live (offset INTEGER PRIMARY KEY, crc INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS import (offset INTEGER PRIMARY KEY, crc INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS tally (
      stream INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, counts TEXT NOT NULL,
      PRIMARY KEY (stream, first)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS probe (id INTEGER PRIMARY KEY, written INTEGER NOT NULL) STRICT;
    COMMIT`)
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
