import type { DatabaseSync } from 'node:sqlite'

/** Each step runs once; `user_version` counts them. Append only. */
const MIGRATIONS = [
  `
  -- hash_a, hash_b: the seed that values are hashed with (observe/value-hash.ts). change: number of the last one, in a cluster.
  -- form, samples: what is kept, and the limit of samples (thread/catalog.ts).
  CREATE TABLE numbers (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  -- Up to where each stream of the log is counted: committed together with the counts, always.
  CREATE TABLE positions (
    partition INTEGER NOT NULL, stream INTEGER NOT NULL, position INTEGER NOT NULL,
    PRIMARY KEY (partition, stream)
  ) STRICT, WITHOUT ROWID;

  -- bytes: of all that is kept of a source, about. cut: what limits have cut, as JSON.
  CREATE TABLE sources (
    id TEXT PRIMARY KEY, write_key TEXT NOT NULL, samples TEXT NOT NULL, has_values INTEGER NOT NULL,
    models INTEGER NOT NULL, bytes INTEGER NOT NULL, cut TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sources_by_key ON sources (write_key);

  -- identifier: as JSON, which keeps what UTF-8 cannot. keys: JSON of [path, type, …] in order of arrival.
  CREATE TABLE models (
    id INTEGER PRIMARY KEY AUTOINCREMENT, event_id TEXT NOT NULL UNIQUE,
    source TEXT NOT NULL, type TEXT NOT NULL, identifier TEXT NOT NULL,
    created_at INTEGER NOT NULL, last_seen INTEGER NOT NULL,
    total INTEGER NOT NULL, unversioned INTEGER NOT NULL, versions INTEGER NOT NULL, cut_keys INTEGER NOT NULL,
    keys TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX models_by_name ON models (source, type, identifier);
  CREATE INDEX models_in_order ON models (created_at, id);
  CREATE INDEX models_of_source ON models (source, created_at, id);

  -- shape: hash of the keys with their types. valued: events whose values were counted.
  CREATE TABLE versions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, version_id TEXT NOT NULL UNIQUE,
    model INTEGER NOT NULL, shape BLOB NOT NULL,
    first_seen INTEGER NOT NULL, last_seen INTEGER NOT NULL, total INTEGER NOT NULL, valued INTEGER NOT NULL,
    keys TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX versions_by_shape ON versions (model, shape);
  CREATE INDEX versions_in_order ON versions (model, first_seen, id);

  -- Counters of the values, key by key (observe/frequent-values.ts), and the texts of the frequent ones as JSON.
  CREATE TABLE version_values (version INTEGER PRIMARY KEY, counters BLOB NOT NULL, texts TEXT NOT NULL) STRICT;

  -- The events of a model that have no version. keys: JSON of [path, events, of them with values counted, …].
  CREATE TABLE unversioned (
    model INTEGER PRIMARY KEY, keys TEXT NOT NULL, counters BLOB NOT NULL, texts TEXT NOT NULL
  ) STRICT;

  -- owner: twice the id of a model, or twice that of a version and one more.
  CREATE TABLE samples (
    id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, priority INTEGER NOT NULL, is_masked INTEGER NOT NULL, event TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX samples_of_owner ON samples (owner, priority);

  -- Ids and first times of what was known before a rebuild; shape is empty for a model itself.
  CREATE TABLE known (
    source TEXT NOT NULL, type TEXT NOT NULL, identifier TEXT NOT NULL, shape BLOB NOT NULL,
    id INTEGER NOT NULL, uuid TEXT NOT NULL, first_at INTEGER NOT NULL,
    PRIMARY KEY (source, type, identifier, shape)
  ) STRICT, WITHOUT ROWID;
  `,
]

/**
 * @returns whether it was a database of an earlier version.
 * @throws NewerCatalogError for a database of a later version; nothing is changed then.
 */
export function migrate(db: DatabaseSync): boolean {
  refuseNewer(db)
  const version = schemaVersion(db)
  if (version === MIGRATIONS.length) return false
  // One transaction for all: each commit is a sync of the disk.
  const pending = MIGRATIONS.slice(version)
  db.exec(`BEGIN IMMEDIATE; ${pending.join(';')}; PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`)
  return version > 0
}

/** @throws NewerCatalogError */
export function refuseNewer(db: DatabaseSync): void {
  const version = schemaVersion(db)
  if (version > MIGRATIONS.length) throw new NewerCatalogError(version, MIGRATIONS.length)
}

function schemaVersion(db: DatabaseSync): number {
  return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
}

export class NewerCatalogError extends Error {
  override name = 'NewerCatalogError'
  readonly code = 'NEWER_SCHEMA'

  constructor(found: number, known: number) {
    super(`catalog.db was written by a newer version (schema ${found}, this version supports ${known})`)
  }
}
