import type { MigratedPart } from '@millrace/postgres'
import type { Command } from 'commander'
import { MIGRATION_SETTINGS } from '../config/cluster-settings.ts'
import { valuesIn } from '../config/environment.ts'
import { type CommandContext, withExample } from './command.ts'
import { CommandError, type CommandIo } from './command-io.ts'
import { columns, json } from './paint.ts'
import { warnOfUnknownSettings } from './settings-command.ts'

/** Errors that a person can correct: their text suffices. */
const EXPECTED = ['schema_too_new', 'postgres_unavailable']

/** `millrace migrate` */
export function addMigrate(program: Command, { io }: CommandContext): void {
  withExample(program.command('migrate'), 'migrate')
    .description('bring the tables of a cluster in Postgres up to date; MILLRACE_POSTGRES_URL says where')
    .option('--json', 'as JSON')
    .action((options: { readonly json?: boolean }) => migrateTables(options, io))
}

/** Runs the steps that are missing, in one transaction. @see contracts/cluster.md §12 [K21] */
async function migrateTables({ json: asJson }: { readonly json?: boolean }, io: CommandIo): Promise<void> {
  const { postgresUrl, postgresSchema } = valuesIn(io.env, MIGRATION_SETTINGS)
  warnOfUnknownSettings(io)
  if (postgresUrl === undefined) {
    throw new CommandError(
      'MILLRACE_POSTGRES_URL is not set: there are no tables of a cluster to migrate.',
      'An embedded server migrates its data folder when it starts.',
    )
  }
  const migrated = await migrateAt({ postgresUrl, postgresSchema })
  if (asJson) {
    io.stdout.write(`${json({ schema: postgresSchema, parts: migrated })}\n`)
    return
  }
  const rows = migrated.map((part) => [`  ${part.part}`, whatRan(part)])
  const count = migrated.filter(({ from, version }) => from < version).length
  const summary = count === 0 ? 'is up to date' : 'was brought up to date'
  io.stdout.write(`The Postgres schema ${postgresSchema} ${summary}.\n${columns(rows).join('\n')}\n`)
}

async function migrateAt(settings: { readonly postgresUrl: string; readonly postgresSchema: string }) {
  // Other commands do not load the modules of a cluster.
  const { migrateSchema } = await import('../cluster/engines.ts')
  try {
    // An error of the one connection is the error of the command.
    return await migrateSchema(settings, { warn: () => {} })
  } catch (error) {
    const { code, message } = error as Error & { code?: unknown }
    if (EXPECTED.includes(String(code))) throw new CommandError(message)
    throw error
  }
}

function whatRan({ from, version }: MigratedPart): string {
  if (from === version) return `at ${version}, nothing to do`
  return from === 0 ? `made, at ${version}` : `from ${from} to ${version}`
}
