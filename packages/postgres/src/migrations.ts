import { WRITE_TOKENS } from './commit-in-doubt.ts'
import type { Queries } from './postgres-connection.ts'
import { type PostgresOptions, PostgresPool } from './postgres-pool.ts'

/**
 * One group of tables with its own row in the table `schema`. Its version is the number of its steps that ran.
 *
 * A released step never changes, and a step only adds, so that the release before it works beside it. A release that
 * removes something that no release since version n uses marks the step with `usableFrom: n`.
 */
export interface SchemaPart {
  /** Such as `control`. */
  readonly name: string
  readonly steps: readonly MigrationStep[]
}

export interface MigrationStep {
  readonly name: string
  /** After this step, only programs that know this many steps or more may start. Default: as before. */
  readonly usableFrom?: number
  up(queries: Queries): Promise<unknown>
}

export interface SchemaState {
  readonly part: string
  readonly version: number
  readonly usableFrom: number
}

/** What `migrate` did to a part. */
export interface MigratedPart {
  readonly part: string
  /** Steps that had run before: 0 if the part was not there. */
  readonly from: number
  /** Steps that have run now. */
  readonly version: number
}

/** Other processes that migrate are waited for this long. */
const LOCK_TIMEOUT_MS = 60_000
/** The limit for one statement of a step, such as an index over a large table. */
const STATEMENT_TIMEOUT_MS = 3_600_000
const ANSWER_ROOM_MS = 60_000

/** A pool for `migrate`: other pools give a statement up long before a step over a large table ends. */
export function migrationPool(options: Omit<PostgresOptions, 'connections'>): PostgresPool {
  const timeouts = { ...options.timeouts, answerMs: STATEMENT_TIMEOUT_MS + ANSWER_ROOM_MS }
  return new PostgresPool({ ...options, connections: 1, timeouts })
}

/**
 * Brings the schema of the pool up to the steps that this program knows, in one transaction under an advisory lock:
 * several processes may start at once, and a failed step leaves the schema as it was.
 *
 * @throws SchemaTooNewError if a newer release removed what this program needs; nothing is changed.
 * @see contracts/cluster.md §12 [K21]
 */
export async function migrate(pool: PostgresPool, parts: readonly SchemaPart[]): Promise<MigratedPart[]> {
  const states = await schemaStates(pool)
  const [base] = await pool.query<{ found: boolean }>(`SELECT to_regclass('write_token') IS NOT NULL AS found`)
  if (base!.found && parts.every((part) => isUpToDate(pool.schema, part, states))) {
    return parts.map(({ name }) => unchanged(states.find((state) => state.part === name)!))
  }
  return pool.transaction(async (queries) => {
    await queries.rows(
      `SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true),
              set_config('idle_in_transaction_session_timeout', '0', true)`,
      [`${LOCK_TIMEOUT_MS}`, `${STATEMENT_TIMEOUT_MS}`],
    )
    await queries.rows(`SELECT pg_advisory_xact_lock(hashtextextended('millrace ' || $1, 0))`, [pool.schema])
    // IF NOT EXISTS alone needs the right to create schemas, also where this one exists.
    const found = await queries.rows('SELECT 1 FROM pg_namespace WHERE nspname = $1', [pool.schema])
    if (found.length === 0) await queries.run(`CREATE SCHEMA IF NOT EXISTS ${quoted(pool.schema)}`)
    await queries.run(
      `CREATE TABLE IF NOT EXISTS schema (part text PRIMARY KEY, version integer NOT NULL, usable_from integer NOT NULL)`,
    )
    await queries.rows(WRITE_TOKENS)
    const done: MigratedPart[] = []
    for (const part of parts) done.push(await migratePart(queries, pool.schema, part))
    return done
  })
}

/**
 * For a program that does not migrate (MILLRACE_MIGRATE=off).
 *
 * @throws SchemaTooNewError or SchemaTooOldError
 */
export async function checkSchema(pool: PostgresPool, parts: readonly SchemaPart[]): Promise<void> {
  const states = await schemaStates(pool)
  for (const part of parts) {
    if (isUpToDate(pool.schema, part, states)) continue
    const version = states.find((state) => state.part === part.name)?.version
    throw new SchemaTooOldError(pool.schema, { part: part.name, version, own: part.steps.length })
  }
}

/** @returns nothing for a schema that does not exist. */
export async function schemaStates(pool: PostgresPool): Promise<SchemaState[]> {
  const [found] = await pool.query<{ found: boolean }>(`SELECT to_regclass('schema') IS NOT NULL AS found`)
  return found?.found ? pool.query<SchemaState>(SELECT_STATES) : []
}

/** A newer release removed tables or columns that this program needs. */
export class SchemaTooNewError extends Error {
  override readonly name = 'SchemaTooNewError'
  readonly code = 'schema_too_new'

  constructor(schema: string, { part, version, usableFrom }: SchemaState, own: number) {
    super(
      `The Postgres schema ${schema} was migrated by a newer version of Millrace: its part ${part} is at ${version}, usable ` +
        `from ${usableFrom}, and this program knows ${own}. Start a newer version. Nothing was changed.`,
    )
  }
}

/** The schema lacks steps, and this program may not run them. */
export class SchemaTooOldError extends Error {
  override readonly name = 'SchemaTooOldError'
  readonly code = 'schema_too_old'

  constructor(schema: string, { part, version, own }: { part: string; version: number | undefined; own: number }) {
    const state = version === undefined ? 'is missing' : `is at ${version}, and this program needs ${own}`
    super(
      `The part ${part} of the Postgres schema ${schema} ${state}: run \`npm run millrace -- migrate\`, then start ` +
        'again. Nothing was changed.',
    )
  }
}

const SELECT_STATES = 'SELECT part, version, usable_from AS "usableFrom" FROM schema ORDER BY part'

function isUpToDate(schema: string, part: SchemaPart, states: readonly SchemaState[]): boolean {
  const state = states.find((each) => each.part === part.name)
  if (state === undefined) return false
  if (part.steps.length < state.usableFrom) throw new SchemaTooNewError(schema, state, part.steps.length)
  return state.version >= part.steps.length
}

async function migratePart(queries: Queries, schema: string, part: SchemaPart): Promise<MigratedPart> {
  const states = await queries.rows<SchemaState>(SELECT_STATES)
  if (isUpToDate(schema, part, states)) return unchanged(states.find((state) => state.part === part.name)!)
  const before = states.find((each) => each.part === part.name) ?? { version: 0, usableFrom: 0 }
  let { usableFrom } = before
  for (const step of part.steps.slice(before.version)) {
    await step.up(queries)
    usableFrom = step.usableFrom ?? usableFrom
  }
  await queries.run(
    `INSERT INTO schema VALUES ($1, $2, $3)
     ON CONFLICT (part) DO UPDATE SET version = excluded.version, usable_from = excluded.usable_from`,
    [part.name, part.steps.length, usableFrom],
  )
  return { part: part.name, from: before.version, version: part.steps.length }
}

function unchanged({ part, version }: SchemaState): MigratedPart {
  return { part, from: version, version }
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
