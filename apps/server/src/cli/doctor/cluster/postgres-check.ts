import { type PostgresPool, type SchemaPart, type SchemaState, schemaStates } from '@millrace/postgres'
import { type ClusterSettings, SCHEMA_PARTS } from '../../../cluster/engines.ts'
import { commandLine } from '../../command-line.ts'
import { duration } from '../../paint.ts'
import { type Finding, fail, ok, warn } from '../finding.ts'

const OLDEST_VERSION = 15
/** Of its connections; from here on a start may find none. */
const CROWDED = 0.9

interface ServerFacts {
  /** From the question to the answer, the first connection included. */
  readonly ms: number
  readonly version: string
  /** Such as 150004. */
  readonly number: number
  readonly most: number
  readonly used: number
}

export function* checkServer({ ms, version, number, most, used }: ServerFacts): Generator<Finding> {
  if (number < OLDEST_VERSION * 10_000) {
    yield fail('postgres', `version ${version} is too old: Millrace needs ${OLDEST_VERSION} or later`)
    return
  }
  const facts = `version ${version} answered in ${duration(ms)}; ${used} of ${most} connections are used`
  if (used < CROWDED * most) yield ok('postgres', facts)
  else {
    yield warn(
      'postgres',
      `${facts}: a process that starts may find none. Raise max_connections, or lower MILLRACE_POSTGRES_POOL`,
    )
  }
}

/** @returns whether the tables are there in a form that this program can read. */
export async function checkMigrations(
  pool: PostgresPool,
  { migrates }: Pick<ClusterSettings, 'migrates'>,
): Promise<{ findings: Finding[]; isUsable: boolean }> {
  const states = await schemaStates(pool)
  if (states.length === 0) {
    const next = migrates ? 'the first start makes them' : `${commandLine(['migrate'])} makes them`
    const finding = (migrates ? ok : warn)('migrations', `schema ${pool.schema} has no tables yet: ${next}`)
    return { findings: [finding], isUsable: false }
  }
  const parts = SCHEMA_PARTS.map((part) => compared(part, states, migrates))
  const problems = parts.filter(({ verdict }) => verdict !== 'ok')
  const current = `schema ${pool.schema}: ${parts.map(({ text }) => text).join(', ')}`
  const findings = problems.length === 0 ? [ok('migrations', current)] : problems
  return { findings, isUsable: parts.every(({ isReadable }) => isReadable) }
}

function compared(part: SchemaPart, states: readonly SchemaState[], migrates: boolean) {
  const { name, steps } = part
  const state = states.find((each) => each.part === name)
  const version = state?.version ?? 0
  if (state !== undefined && steps.length < state.usableFrom) {
    const text = `${name} is at ${version}, usable from ${state.usableFrom}, and this program knows ${steps.length}: use a newer version`
    return { ...fail('migrations', text), isReadable: false }
  }
  if (version < steps.length) {
    const next = migrates ? 'the next start of this version migrates it' : `${commandLine(['migrate'])} migrates it`
    const text = `${name} is at ${version}, and this program needs ${steps.length}: ${next}`
    return { ...(migrates ? warn : fail)('migrations', text), isReadable: false }
  }
  const newer = version > steps.length ? ` (a newer version has run; this one knows ${steps.length})` : ''
  return { ...ok('migrations', `${name} ${version}${newer}`), isReadable: true }
}
