import type { SchemaPart } from '@millrace/postgres'

/** What the processes of one installation tell each other through Postgres. */
export const installationSchema: SchemaPart = {
  name: 'installation',
  steps: [{ name: 'spans of a revision', up: (queries) => queries.query(CREATE_TABLES) }],
}

const CREATE_TABLES = `
  -- The newest revision of the configuration whose spans are all stored; at most one row.
  CREATE TABLE spans_written (id smallint PRIMARY KEY CHECK (id = 1), revision bigint NOT NULL);`
