import type { SchemaPart } from '@millrace/postgres'

/** The tables of the catalog in Postgres. @see contracts/cluster.md §8 [K12] */
export const catalogSchema: SchemaPart = {
  name: 'catalog',
  steps: [{ name: 'changes and snapshots', up: (queries) => queries.query(CREATE_TABLES) }],
}

/*
 * catalog_state is one row. change: number of the last change. wish: number of the last question that asked for a commit.
 * answered: everything that was accepted before this wish is in that change.
 *
 * catalog_change: changesets of SQLite, and catalog_snapshot: files of SQLite, in pieces of at most 1 MB. A snapshot is complete
 * when all its `pieces` are there; its change is the last one that it contains.
 *
 * catalog_request: a removal or a rebuild that a control process waits for, until it has an outcome. at: when it was made, or last
 * worked at.
 */
const CREATE_TABLES = `
  CREATE TABLE catalog_state (
    id integer PRIMARY KEY CHECK (id = 1),
    change bigint NOT NULL,
    wish bigint NOT NULL,
    answered bigint NOT NULL
  );
  INSERT INTO catalog_state VALUES (1, 0, 0, 0);
  CREATE TABLE catalog_change (
    change bigint,
    piece integer,
    bytes bytea NOT NULL,
    PRIMARY KEY (change, piece)
  );
  ALTER TABLE catalog_change ALTER COLUMN bytes SET STORAGE EXTERNAL;
  CREATE TABLE catalog_snapshot (
    change bigint,
    piece integer,
    pieces integer NOT NULL,
    bytes bytea NOT NULL,
    PRIMARY KEY (change, piece)
  );
  ALTER TABLE catalog_snapshot ALTER COLUMN bytes SET STORAGE EXTERNAL;
  CREATE TABLE catalog_request (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text COLLATE "C" NOT NULL,
    source text COLLATE "C",
    at timestamptz NOT NULL DEFAULT now(),
    outcome text COLLATE "C"
  )`
