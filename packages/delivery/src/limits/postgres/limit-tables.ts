import type { Queries } from '@millrace/postgres'
import type { OutageState } from '../../failure/outage.ts'

/** A token may be used so long after it was asked for, and counts so much longer than the window. */
export const TOKEN_MS = 1_000
/** A process that ends while it probes holds up the others so long. */
export const PROBE_MS = 60_000

/*
 * All times are of the database. Ids stand as texts: a destination has one row of limit_state, and as many of limit_grant
 * as grants are in its window.
 */
export const LIMIT_TABLES = `
  CREATE TABLE limit_state (
    destination text COLLATE "C" PRIMARY KEY, state text NOT NULL DEFAULT 'ok',
    since timestamptz NOT NULL DEFAULT now(), next_probe timestamptz NOT NULL DEFAULT now(),
    failed_probes bigint NOT NULL DEFAULT 0,
    -- Of the configuration that was tried last: each is tried at once, by one process.
    revision bigint NOT NULL DEFAULT 0,
    -- The process that may send the probe.
    prober text COLLATE "C", probe_until timestamptz,
    -- Grows with each change that other processes take over.
    version bigint NOT NULL DEFAULT 0
  ) WITH (fillfactor = 50);
  -- Tokens of throttles; one counts from its grant until a window and a second later.
  CREATE TABLE limit_grant (destination text COLLATE "C" NOT NULL, at timestamptz NOT NULL, tokens bigint NOT NULL);
  CREATE INDEX limit_grant_by_destination ON limit_grant (destination, at);
`

export interface TokenAsk {
  readonly destination: string
  readonly limit: number
  readonly windowSeconds: number
  readonly wanted: number
}

/** A change of a destination's outage that this process has noticed, or wants. */
export type OutageWrite =
  | { readonly kind: 'begin'; readonly state: OutageState; readonly restMs: number }
  | { readonly kind: 'end' }
  | { readonly kind: 'probe failed'; readonly restMs: number }
  | { readonly kind: 'probe ended' }
  | { readonly kind: 'configured'; readonly revision: number }
  | { readonly kind: 'probe' }

export interface StoredLimit {
  readonly destination: string
  readonly state: OutageState
  readonly failedProbes: number
  readonly version: number
  readonly sinceMs: number
  readonly probeInMs: number
  /** How long this process may still probe; null: it may not. */
  readonly probeLeftMs: number | null
}

/** Locks the rows of some destinations in one order, and makes those that are missing. */
export async function lockLimits(queries: Queries, destinations: readonly string[]): Promise<void> {
  const sorted = destinations.toSorted()
  await queries.run('INSERT INTO limit_state (destination) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING', [sorted])
  await queries.rows('SELECT 1 FROM limit_state WHERE destination = ANY ($1::text[]) ORDER BY destination FOR UPDATE', [
    sorted,
  ])
}

/** Grants tokens to a process that has locked the rows: a later statement sees every grant before it. */
export function grantTokens(
  queries: Queries,
  asks: readonly TokenAsk[],
): Promise<{ destination: string; tokens: number; waitMs: number | null }[]> {
  const rows = asks.map(({ windowSeconds, ...ask }) => ({ ...ask, counted_ms: windowSeconds * 1_000 + TOKEN_MS }))
  return queries.rows(GRANT, [JSON.stringify(rows)])
}

/** Writes a change of a locked row. */
export async function writeOutage(
  queries: Queries,
  destination: string,
  process: string,
  write: OutageWrite,
): Promise<void> {
  switch (write.kind) {
    case 'begin':
      await queries.run(BEGIN, [destination, write.state, write.restMs])
      return
    case 'end':
      await queries.run(END, [destination])
      return
    case 'probe failed':
      await queries.run(PROBE_FAILED, [destination, process, write.restMs])
      return
    case 'probe ended':
      await queries.run(`${RELEASE} WHERE destination = $1 AND prober = $2`, [destination, process])
      return
    case 'configured':
      await queries.run(PROBE_SOON, [destination, write.revision])
      return
    case 'probe':
      await queries.run(PROBE, [destination, process, PROBE_MS])
      return
  }
}

export function readLimits(
  queries: Pick<Queries, 'rows'>,
  destinations: readonly string[],
  process: string,
): Promise<StoredLimit[]> {
  return queries.rows<StoredLimit>(READ, [destinations, process])
}

/** The probes of a process that stops are another one's. */
export async function releaseProbes(queries: Queries, process: string): Promise<void> {
  await queries.run(`${RELEASE} WHERE prober = $1`, [process])
}

const GRANT = `
  WITH ask AS (
    SELECT * FROM json_to_recordset($1::json) AS ask(destination text, "limit" bigint, counted_ms bigint, wanted bigint)
  ),
  present AS MATERIALIZED (SELECT clock_timestamp() AS at),
  gone AS (
    DELETE FROM limit_grant g USING ask, present
    WHERE g.destination = ask.destination AND g.at <= present.at - ask.counted_ms * interval '1 ms'
  ),
  used AS (
    SELECT ask.destination, coalesce(sum(g.tokens), 0) AS tokens, min(g.at) AS oldest
    FROM ask CROSS JOIN present LEFT JOIN limit_grant g
      ON g.destination = ask.destination AND g.at > present.at - ask.counted_ms * interval '1 ms'
    GROUP BY ask.destination
  ),
  granted AS (
    INSERT INTO limit_grant (destination, at, tokens)
    SELECT ask.destination, present.at, least(ask.wanted, ask."limit" - used.tokens)
    FROM ask JOIN used ON used.destination = ask.destination CROSS JOIN present WHERE ask."limit" > used.tokens
    RETURNING destination, tokens
  )
  SELECT ask.destination, coalesce(granted.tokens, 0) AS tokens,
    ceil(extract(epoch FROM used.oldest - present.at) * 1000 + ask.counted_ms)::bigint AS "waitMs"
  FROM ask JOIN used ON used.destination = ask.destination CROSS JOIN present
  LEFT JOIN granted ON granted.destination = ask.destination`

const FREED = 'prober = NULL, probe_until = NULL'
const RELEASE = `UPDATE limit_state SET ${FREED}`
const MS = (parameter: string) => `${parameter}::bigint * interval '1 ms'`
const BEGIN = `
  UPDATE limit_state SET state = $2, since = clock_timestamp(), next_probe = clock_timestamp() + ${MS('$3')},
    failed_probes = 0, version = version + 1, ${FREED}
  WHERE destination = $1 AND state <> $2 AND (state = 'ok' OR $2 = 'unauthorised')`
const END = `
  UPDATE limit_state SET state = 'ok', version = version + 1, ${FREED} WHERE destination = $1 AND state <> 'ok'`
const PROBE_FAILED = `
  UPDATE limit_state SET failed_probes = failed_probes + 1, next_probe = clock_timestamp() + ${MS('$3')},
    version = version + 1, ${FREED} WHERE destination = $1 AND prober = $2`
const PROBE_SOON = `
  UPDATE limit_state SET revision = $2, version = version + 1,
    next_probe = CASE WHEN state = 'unauthorised' THEN least(next_probe, clock_timestamp()) ELSE next_probe END
  WHERE destination = $1 AND revision < $2`
const PROBE = `
  UPDATE limit_state SET prober = $2, probe_until = clock_timestamp() + ${MS('$3')}
  WHERE destination = $1 AND state <> 'ok' AND next_probe <= clock_timestamp()
    AND (prober IS NULL OR prober = $2 OR probe_until <= clock_timestamp())`
const READ = `
  SELECT destination, state, failed_probes AS "failedProbes", version,
    (extract(epoch FROM clock_timestamp() - since) * 1000)::bigint AS "sinceMs",
    (extract(epoch FROM next_probe - clock_timestamp()) * 1000)::bigint AS "probeInMs",
    CASE WHEN prober = $2 THEN (extract(epoch FROM probe_until - clock_timestamp()) * 1000)::bigint END AS "probeLeftMs"
  FROM limit_state WHERE destination = ANY ($1::text[])`
