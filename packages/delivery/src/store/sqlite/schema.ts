import type { DatabaseSync } from 'node:sqlite'
import { bytesOfPercentiles } from './duration-bytes.ts'

/** @param letters number of dead letters that are added: SQL about NEW. */
const joinGroup = (letters: string) => `
  INSERT INTO letter_groups VALUES (NEW.destination, NEW.source, NEW.stage, NEW.reason, NEW.last_status,
      NEW.dead_at / 60000, ${letters}, NEW.dead_at, NEW.dead_at)
    ON CONFLICT DO UPDATE SET letters = letters + excluded.letters,
      oldest = min(oldest, excluded.oldest), newest = max(newest, excluded.newest);`

const GROUP_LEFT = `destination = OLD.destination AND source = OLD.source AND stage = OLD.stage
  AND reason = OLD.reason AND last_status = OLD.last_status AND minute = OLD.dead_at / 60000`
/** @param letters number of dead letters that leave: SQL about OLD and, in an update, NEW. */
const leaveGroup = (letters: string) => `
  UPDATE letter_groups SET letters = letters - (${letters}) WHERE ${GROUP_LEFT};
  DELETE FROM letter_groups WHERE ${GROUP_LEFT} AND letters = 0;`

/** Each step runs once; `user_version` counts them. Append only. */
const MIGRATIONS = [
  `
  -- Ids and texts that many rows share.
  CREATE TABLE names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;

  -- Where each reader (a destination, or the message index) goes on after a restart.
  CREATE TABLE positions (
    reader INTEGER NOT NULL, partition INTEGER NOT NULL, stream INTEGER NOT NULL,
    offset INTEGER NOT NULL, idx INTEGER NOT NULL,
    PRIMARY KEY (reader, partition, stream)
  ) STRICT, WITHOUT ROWID;

  -- Plain outcomes, 20 bytes each (outcome-block.ts), in the order in which they came.
  CREATE TABLE blocks (
    id INTEGER PRIMARY KEY,
    destination INTEGER NOT NULL, partition INTEGER NOT NULL, revision INTEGER NOT NULL,
    first_offset INTEGER NOT NULL, last_offset INTEGER NOT NULL, last_at INTEGER NOT NULL,
    entries BLOB NOT NULL
  ) STRICT;
  CREATE INDEX blocks_by_offset ON blocks (destination, partition, last_offset, first_offset);

  -- What went differently: waits, deliveries that took several attempts or requests.
  CREATE TABLE journeys (
    id INTEGER PRIMARY KEY,
    destination INTEGER NOT NULL, source INTEGER NOT NULL,
    partition INTEGER NOT NULL, stream INTEGER NOT NULL, offset INTEGER NOT NULL, idx INTEGER NOT NULL,
    outcome TEXT NOT NULL, reason TEXT,
    accepted_at INTEGER NOT NULL, size_bytes INTEGER NOT NULL, user_key INTEGER NOT NULL, anonymous_key INTEGER NOT NULL,
    attempts INTEGER NOT NULL, delivered_requests INTEGER NOT NULL, first_attempt_at INTEGER, due_at INTEGER,
    requests TEXT, revision INTEGER NOT NULL, changed_at INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX journeys_by_place ON journeys (destination, partition, offset, idx);
  CREATE INDEX journeys_waiting ON journeys (destination, offset, idx) WHERE outcome = 'waiting';

  CREATE TABLE dead_letters (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    destination INTEGER NOT NULL, source INTEGER NOT NULL,
    partition INTEGER NOT NULL, offset INTEGER NOT NULL, idx INTEGER NOT NULL,
    state INTEGER NOT NULL, stage INTEGER NOT NULL, reason INTEGER NOT NULL,
    accepted_at INTEGER NOT NULL, dead_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL, last_status INTEGER NOT NULL, last_answer INTEGER, revision INTEGER NOT NULL,
    state_at INTEGER NOT NULL, requests TEXT, event TEXT NOT NULL
  ) STRICT;
  CREATE INDEX dead_letters_by_place ON dead_letters (destination, partition, offset, idx);
  CREATE INDEX dead_letters_by_state ON dead_letters (state);
  CREATE INDEX dead_letters_by_destination ON dead_letters (destination, state);

  -- Many events with one outcome: discarded with their destination, connection or source; lost with a damaged segment.
  CREATE TABLE ranges (
    id INTEGER PRIMARY KEY,
    destination INTEGER NOT NULL, source INTEGER, partition INTEGER NOT NULL,
    from_offset INTEGER NOT NULL, to_offset INTEGER NOT NULL,
    outcome TEXT NOT NULL, reason TEXT NOT NULL, count INTEGER NOT NULL, at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX ranges_by_destination ON ranges (destination, partition);

  -- From where to where in the log a connection was enabled, or a destination disabled; to_offset is null while it lasts.
  CREATE TABLE spans (
    kind TEXT NOT NULL, resource TEXT NOT NULL, source TEXT NOT NULL, destination TEXT NOT NULL,
    partition INTEGER NOT NULL, from_offset INTEGER NOT NULL, to_offset INTEGER,
    PRIMARY KEY (kind, resource, partition, from_offset)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE delivered_by_hour (
    destination INTEGER NOT NULL, hour INTEGER NOT NULL, delivered INTEGER NOT NULL,
    PRIMARY KEY (destination, hour)
  ) STRICT, WITHOUT ROWID;

  -- Hashes of messageIds with their places, 4,096 events a chunk, each chunk split by the upper bits of the hash.
  CREATE TABLE message_hashes (
    id INTEGER PRIMARY KEY,
    bucket INTEGER NOT NULL, partition INTEGER NOT NULL, last_offset INTEGER NOT NULL, entries BLOB NOT NULL
  ) STRICT;
  CREATE INDEX message_hashes_by_bucket ON message_hashes (bucket);
  `,
  `
  -- Why the system ended a dead letter: its destination, connection or source was removed.
  ALTER TABLE dead_letters ADD COLUMN end_reason INTEGER;

  -- Most dead letters are open: they do without this index, it finds the others.
  DROP INDEX dead_letters_by_state;
  CREATE INDEX dead_letters_ended ON dead_letters (state) WHERE state > 0;
  `,
  `
  -- Work on many dead letters (job.ts): what was asked for, how far it is.
  CREATE TABLE jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL, state TEXT NOT NULL, is_dry_run INTEGER NOT NULL, filter TEXT,
    last_letter INTEGER NOT NULL,
    matched INTEGER, taken INTEGER NOT NULL, delivered INTEGER NOT NULL, filtered INTEGER NOT NULL,
    dead_lettered INTEGER NOT NULL, discarded INTEGER NOT NULL,
    created_by TEXT NOT NULL, created_at INTEGER NOT NULL, finished_at INTEGER
  ) STRICT;
  CREATE INDEX jobs_unfinished ON jobs (number) WHERE finished_at IS NULL;

  -- Of a job at one destination. letters: rows of dead_letters in their order, where they were named; null for a filter.
  CREATE TABLE job_parts (
    job INTEGER NOT NULL, destination INTEGER NOT NULL, letters TEXT, place TEXT NOT NULL, is_at_end INTEGER NOT NULL,
    PRIMARY KEY (job, destination)
  ) STRICT, WITHOUT ROWID;

  -- The last replay that took it up, and while it is replaying how far its attempts are (JSON of ReplayWait).
  ALTER TABLE dead_letters ADD COLUMN replay INTEGER;
  ALTER TABLE dead_letters ADD COLUMN wait TEXT;
  `,
  `
  -- Versions of user code by destination and revision of its configuration (JSON, in their order); none: no row.
  CREATE TABLE transformations (
    destination INTEGER NOT NULL, revision INTEGER NOT NULL, version_ids TEXT NOT NULL,
    PRIMARY KEY (destination, revision)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- A job may be over the log instead of dead letters; filter is then JSON of its LogSelection (job.ts).
  ALTER TABLE jobs ADD COLUMN origin TEXT NOT NULL DEFAULT 'dead_letters';
  ALTER TABLE jobs ADD COLUMN rate INTEGER NOT NULL DEFAULT 100;

  -- A part is of one partition, too; before this step all events lay in partition 0.
  CREATE TABLE parts_by_partition (
    job INTEGER NOT NULL, destination INTEGER NOT NULL, partition INTEGER NOT NULL,
    letters TEXT, place TEXT NOT NULL, is_at_end INTEGER NOT NULL,
    PRIMARY KEY (job, destination, partition)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO parts_by_partition SELECT job, destination, 0, letters, place, is_at_end FROM job_parts;
  DROP TABLE job_parts;
  ALTER TABLE parts_by_partition RENAME TO job_parts;

  -- Outcomes of a replay of the log stand beside those of the first delivery: replay is the name of the job, 0 without one.
  ALTER TABLE blocks ADD COLUMN replay INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE journeys ADD COLUMN replay INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX blocks_of_replays ON blocks (destination, partition, last_offset) WHERE replay > 0;
  DROP INDEX journeys_by_place;
  CREATE UNIQUE INDEX journeys_by_place ON journeys (destination, partition, offset, idx, replay);
  CREATE INDEX journeys_replaying ON journeys (replay, destination, offset, idx) WHERE outcome = 'waiting' AND replay > 0;

  -- Up to when traces have been dropped, ms since 1970; without a row none ever was.
  CREATE TABLE traces_dropped (id INTEGER PRIMARY KEY CHECK (id = 1), until INTEGER NOT NULL) STRICT;
  `,
  `
  -- What open dead letters of a destination are and take, kept by the triggers below, and what it lost to the storage budget.
  CREATE TABLE backlog (
    destination INTEGER PRIMARY KEY, letters INTEGER NOT NULL, letter_bytes INTEGER NOT NULL,
    expired INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  INSERT INTO backlog (destination, letters, letter_bytes)
    SELECT destination, count(*), sum(octet_length(event)) FROM dead_letters WHERE state = 0 GROUP BY destination;
  CREATE TRIGGER letter_came AFTER INSERT ON dead_letters WHEN NEW.state = 0 BEGIN
    INSERT INTO backlog (destination, letters, letter_bytes) VALUES (NEW.destination, 1, octet_length(NEW.event))
      ON CONFLICT DO UPDATE SET letters = letters + 1, letter_bytes = letter_bytes + excluded.letter_bytes;
  END;
  CREATE TRIGGER letter_changed AFTER UPDATE OF state ON dead_letters WHEN (OLD.state = 0) <> (NEW.state = 0) BEGIN
    UPDATE backlog SET letters = letters + iif(NEW.state = 0, 1, -1),
      letter_bytes = letter_bytes + iif(NEW.state = 0, 1, -1) * octet_length(NEW.event)
      WHERE destination = NEW.destination;
  END;
  CREATE TRIGGER letter_went AFTER DELETE ON dead_letters WHEN OLD.state = 0 BEGIN
    UPDATE backlog SET letters = letters - 1, letter_bytes = letter_bytes - octet_length(OLD.event)
      WHERE destination = OLD.destination;
  END;

  -- Records that the log gave up early and somebody still has to deliver; bytes as in the log, duplicates as u16.
  CREATE TABLE kept_records (
    partition INTEGER NOT NULL, offset INTEGER NOT NULL, stream INTEGER NOT NULL, source INTEGER NOT NULL,
    events INTEGER NOT NULL, bytes BLOB NOT NULL, duplicates BLOB
  ) STRICT;
  CREATE UNIQUE INDEX kept_records_by_place ON kept_records (partition, offset);
  `,
  `
  -- Dead letters that came many at once (letter-ranges.ts). Their ids are numbers of dead_letters, first to last; letters and
  -- event_bytes are of those that are still in it; gone is a bit for each that has left, by its number in the range.
  CREATE TABLE letter_ranges (
    first INTEGER PRIMARY KEY, last INTEGER NOT NULL,
    destination INTEGER NOT NULL, source INTEGER NOT NULL, partition INTEGER NOT NULL,
    first_offset INTEGER NOT NULL, last_offset INTEGER NOT NULL,
    state INTEGER NOT NULL, stage INTEGER NOT NULL, reason INTEGER NOT NULL, dead_at INTEGER NOT NULL,
    last_status INTEGER NOT NULL, last_answer INTEGER, revision INTEGER NOT NULL, state_at INTEGER NOT NULL,
    end_reason INTEGER,
    letters INTEGER NOT NULL, event_bytes INTEGER NOT NULL, packed_bytes INTEGER NOT NULL, gone BLOB NOT NULL
  ) STRICT;
  CREATE INDEX letter_ranges_by_place ON letter_ranges (destination, partition, last_offset, first_offset);

  -- Their places and events (letter-block.ts), apart from what changes.
  CREATE TABLE range_letters (first INTEGER PRIMARY KEY, places BLOB NOT NULL, events BLOB NOT NULL) STRICT;
  CREATE TRIGGER range_dropped AFTER DELETE ON letter_ranges BEGIN
    DELETE FROM range_letters WHERE first = OLD.first;
  END;

  CREATE TRIGGER letter_range_came AFTER INSERT ON letter_ranges WHEN NEW.state = 0 BEGIN
    INSERT INTO backlog (destination, letters, letter_bytes) VALUES (NEW.destination, NEW.letters, NEW.event_bytes)
      ON CONFLICT DO UPDATE SET letters = letters + excluded.letters, letter_bytes = letter_bytes + excluded.letter_bytes;
  END;
  CREATE TRIGGER letter_range_changed AFTER UPDATE OF state, letters, event_bytes ON letter_ranges WHEN OLD.state = 0 BEGIN
    UPDATE backlog SET letters = letters + iif(NEW.state = 0, NEW.letters, 0) - OLD.letters,
      letter_bytes = letter_bytes + iif(NEW.state = 0, NEW.event_bytes, 0) - OLD.event_bytes
      WHERE destination = NEW.destination;
  END;
  CREATE TRIGGER letter_range_went AFTER DELETE ON letter_ranges WHEN OLD.state = 0 BEGIN
    UPDATE backlog SET letters = letters - OLD.letters, letter_bytes = letter_bytes - OLD.event_bytes
      WHERE destination = OLD.destination;
  END;
  `,
  `
  -- Open dead letters that are alike, by the minute in which they were given up; kept by the triggers below.
  CREATE TABLE letter_groups (
    destination INTEGER NOT NULL, source INTEGER NOT NULL, stage INTEGER NOT NULL, reason INTEGER NOT NULL,
    last_status INTEGER NOT NULL, minute INTEGER NOT NULL,
    letters INTEGER NOT NULL, oldest INTEGER NOT NULL, newest INTEGER NOT NULL,
    PRIMARY KEY (destination, source, stage, reason, last_status, minute)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO letter_groups
    SELECT destination, source, stage, reason, last_status, dead_at / 60000, sum(letters), min(dead_at), max(dead_at)
    FROM (
      SELECT destination, source, stage, reason, last_status, dead_at, 1 AS letters FROM dead_letters WHERE state = 0
      UNION ALL
      SELECT destination, source, stage, reason, last_status, dead_at, letters FROM letter_ranges WHERE state = 0
    ) GROUP BY 1, 2, 3, 4, 5, 6;
  CREATE TRIGGER letter_joined AFTER INSERT ON dead_letters WHEN NEW.state = 0 BEGIN
    ${joinGroup('1')}
  END;
  CREATE TRIGGER letter_joined_again AFTER UPDATE OF state ON dead_letters WHEN OLD.state > 0 AND NEW.state = 0 BEGIN
    ${joinGroup('1')}
  END;
  CREATE TRIGGER letter_left AFTER UPDATE OF state ON dead_letters WHEN OLD.state = 0 AND NEW.state > 0 BEGIN
    ${leaveGroup('1')}
  END;
  CREATE TRIGGER letter_left_for_good AFTER DELETE ON dead_letters WHEN OLD.state = 0 BEGIN
    ${leaveGroup('1')}
  END;
  CREATE TRIGGER letter_range_joined AFTER INSERT ON letter_ranges WHEN NEW.state = 0 BEGIN
    ${joinGroup('NEW.letters')}
  END;
  CREATE TRIGGER letter_range_left AFTER UPDATE OF state, letters ON letter_ranges WHEN OLD.state = 0 BEGIN
    ${leaveGroup('OLD.letters - iif(NEW.state = 0, NEW.letters, 0)')}
  END;
  CREATE TRIGGER letter_range_left_for_good AFTER DELETE ON letter_ranges WHEN OLD.state = 0 BEGIN
    ${leaveGroup('OLD.letters')}
  END;
  `,
  `
  -- Steps of 300 s in which the server ran (ms since 1970), and what sources (kind 0), transformations (1) and destinations
  -- (2) did in them; those that did nothing have no row. What c0 to c4 are stands in stats-step.ts of the pipeline.
  CREATE TABLE stats_steps (at INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE stats (
    kind INTEGER NOT NULL, subject INTEGER NOT NULL, at INTEGER NOT NULL,
    c0 INTEGER NOT NULL, c1 INTEGER NOT NULL, c2 INTEGER NOT NULL, c3 INTEGER NOT NULL, c4 INTEGER NOT NULL,
    waiting INTEGER NOT NULL, p50 INTEGER, p95 INTEGER, p99 INTEGER,
    PRIMARY KEY (kind, subject, at)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE stats_reasons (
    destination INTEGER NOT NULL, at INTEGER NOT NULL, outcome TEXT NOT NULL, reason INTEGER NOT NULL, events INTEGER NOT NULL,
    PRIMARY KEY (destination, at, outcome, reason)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE last_events (source INTEGER PRIMARY KEY, at INTEGER NOT NULL) STRICT;
  `,
  `
  -- Runs of the server that did not end in order, with the time at which the next one began (ms since 1970); null: the present
  -- run, whose row goes when it ends in order.
  CREATE TABLE runs (id INTEGER PRIMARY KEY, noticed_at INTEGER) STRICT;

  -- The event that runs alone after such ends (JSON of UnderWay), and how often a start has read its payload.
  CREATE TABLE under_way (id INTEGER PRIMARY KEY CHECK (id = 1), event TEXT NOT NULL, reads INTEGER NOT NULL) STRICT;
  `,
  `
  -- Durations of the calls or runs of a step (duration-bytes.ts) instead of their percentiles; null: there were none.
  ALTER TABLE stats ADD COLUMN durations BLOB;
  UPDATE stats SET durations = bytes_of_percentiles(p50, p95, p99) WHERE p50 IS NOT NULL;
  ALTER TABLE stats DROP COLUMN p50;
  ALTER TABLE stats DROP COLUMN p95;
  ALTER TABLE stats DROP COLUMN p99;
  `,
]

/**
 * Migrates a database to this version's schema.
 *
 * @param to stops at an earlier version: tests create old databases with it.
 * @throws NewerSchemaError for a database of a later version; nothing is changed then.
 */
export function migrate(db: DatabaseSync, to = MIGRATIONS.length): void {
  refuseNewer(db)
  const version = schemaVersion(db)
  if (version >= to) return
  db.function('bytes_of_percentiles', (p50, p95, p99) => bytesOfPercentiles([p50, p95, p99].map(Number)))
  // One transaction for all: each commit is a sync of the disk.
  const pending = MIGRATIONS.slice(version, to)
  db.exec(`BEGIN IMMEDIATE; ${pending.join(';')}; PRAGMA user_version = ${to}; COMMIT`)
}

/** @throws NewerSchemaError */
export function refuseNewer(db: DatabaseSync): void {
  const version = schemaVersion(db)
  if (version > MIGRATIONS.length) throw new NewerSchemaError(version, MIGRATIONS.length)
}

function schemaVersion(db: DatabaseSync): number {
  return (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
}

export class NewerSchemaError extends Error {
  override name = 'NewerSchemaError'
  readonly code = 'NEWER_SCHEMA'

  constructor(found: number, known: number) {
    super(`delivery.db was written by a newer version (schema ${found}, this version supports ${known})`)
  }
}
