import type { SchemaPart } from '@millrace/postgres'

/**
 * What processes of a cluster show each other, for hours at most. The first two tables are not logged: after a crash of Postgres
 * they are empty, and flushes of outcomes do not wait for them.
 */
export const sharedSchema: SchemaPart = {
  name: 'shared',
  steps: [{ name: 'refused requests, logged lines and authorizations', up: (queries) => queries.query(CREATE_TABLES) }],
}

const CREATE_TABLES = `
  CREATE UNLOGGED TABLE refused_request (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at bigint NOT NULL,
    source text COLLATE "C",
    refusal text NOT NULL
  );
  CREATE UNLOGGED TABLE logged_line (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    transformation text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    destination text NOT NULL,
    message text,
    line text NOT NULL
  );
  CREATE INDEX logged_line_by_transformation ON logged_line (transformation, number);
  -- sealed: with the secret key, because it holds the secret of a client.
  CREATE TABLE pending_authorization (
    digest bytea PRIMARY KEY,
    actor text COLLATE "C" NOT NULL,
    begun bigint GENERATED ALWAYS AS IDENTITY,
    until timestamptz NOT NULL,
    sealed text NOT NULL
  )`
