import type { SchemaPart } from '@millrace/postgres'

/** What the processes of one installation tell each other through Postgres. */
export const installationSchema: SchemaPart = {
  name: 'installation',
  steps: [{ name: 'spans of a revision, figures of shards', up: (queries) => queries.query(CREATE_TABLES) }],
}

const CREATE_TABLES = `
  -- The newest revision of the configuration whose spans are all stored; at most one row.
  CREATE TABLE spans_written (id smallint PRIMARY KEY CHECK (id = 1), revision bigint NOT NULL);

  -- What the owner of each shard last wrote about it (shard-figures.ts).
  CREATE TABLE shard_figures (
    shard integer PRIMARY KEY, epoch bigint NOT NULL, at timestamptz NOT NULL, figures text COLLATE "C" NOT NULL
  ) WITH (fillfactor = 50)`
