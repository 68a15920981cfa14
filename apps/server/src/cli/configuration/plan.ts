import path from 'node:path'
import type { AppliedConfiguration, ConfigurationPlan } from '@millrace/api-types'
import type { DocumentError } from '@millrace/control-plane'
import { isJsonObject, type JsonObject } from '@millrace/protocol'
import { CommandError, type CommandIo, EXIT } from '../command-io.ts'
import { json, oneLine, paintFor } from '../paint.ts'
import { AnswerError, ServerApi, type ServerOptions } from '../server-api.ts'
import { withCode } from './code-files.ts'
import { documentErrors } from './config-errors.ts'
import { type ConfigFile, readConfigFile } from './config-file.ts'
import { filled } from './placeholders.ts'
import { planLines } from './plan-lines.ts'

export interface PlanOptions extends ServerOptions {
  readonly file: string
  readonly prune?: boolean
  readonly json?: boolean
}

export interface ApplyOptions extends PlanOptions {
  readonly discard?: boolean
}

/** Shows the changes of a file. @returns the exit code, which tells whether there are changes. */
export async function plan(options: PlanOptions, io: CommandIo): Promise<number> {
  const { api, file, answer } = await planned(options, io)
  if (options.json) {
    io.stdout.write(`${json(answer)}\n`)
    if (answer.errors.length > 0) return EXIT.failed
  } else {
    refuseErrors(file, answer.errors)
    show(api, file, answer, io)
  }
  return answer.changes.length === 0 ? EXIT.done : EXIT.changes
}

/** Shows the changes of a file and applies them. @see contracts/control-plane.md §9 [D717] */
export async function apply(options: ApplyOptions, io: CommandIo): Promise<void> {
  const { api, file, document, answer } = await planned(options, io)
  refuseErrors(file, answer.errors)
  const { revision, changes } = answer
  if (!options.json) show(api, file, answer, io)
  const applied = changes.length === 0 ? { revision, changes } : await carryOut(api, file, document, revision, options)
  if (options.json) io.stdout.write(`${json(applied)}\n`)
  else if (changes.length > 0) {
    io.stdout.write(`${paintFor(io.stdout, io.env)('green', 'applied')}  revision ${applied.revision}\n`)
  }
}

async function planned(options: PlanOptions, io: CommandIo) {
  const api = new ServerApi(options, io)
  const file = readConfigFile(options.file, (...words) => api.commandLine(...words))
  const { document: filledIn, missing } = filled(file.document, io.env)
  if (missing.length > 0) {
    const lines = missing.map(({ name, path }) => `${file.place(path)} ${name} (${oneLine(path)})`)
    throw new CommandError('Environment variables that are unset or empty:', lines.join('\n'))
  }
  const { document, missing: unread } = withCode(filledIn, path.dirname(options.file))
  if (unread.length > 0) {
    const lines = unread.map((each) => `${file.place(each.path)} ${oneLine(each.why)} (${oneLine(each.path)})`)
    throw new CommandError('Code or test files cannot be read:', lines.join('\n'))
  }
  const body = { document, prune: options.prune === true }
  const warn = (warning: string) =>
    io.stderr.write(`${paintFor(io.stderr, io.env)('yellow', 'Warning:')} ${oneLine(warning, 1_000)}\n`)
  const answer = await api.post<ConfigurationPlan>('/v2/config/plan', body, warn)
  return { api, file, document, answer }
}

function show({ url }: ServerApi, { name }: ConfigFile, { revision, changes }: ConfigurationPlan, io: CommandIo): void {
  const paint = paintFor(io.stdout, io.env)
  const lines =
    changes.length === 0
      ? [`${paint('green', 'no change')}  ${url} at revision ${revision} matches ${name}`]
      : [`What ${name} changes at ${url}, revision ${revision}:`, '', ...planLines(changes, paint)]
  io.stdout.write(`${lines.join('\n')}\n`)
}

async function carryOut(
  api: ServerApi,
  file: ConfigFile,
  document: JsonObject,
  revision: number,
  { prune = false, discard = false }: ApplyOptions,
): Promise<AppliedConfiguration> {
  try {
    return await api.post('/v2/config/apply', { document, prune, revision, discard })
  } catch (error) {
    throw error instanceof AnswerError ? explained(error, file, api) : error
  }
}

/** Explains a conflict between the plan and the current state. */
function explained(error: AnswerError, file: ConfigFile, api: ServerApi): Error {
  const { text, details } = error.said
  if (text === 'Invalid config' && isJsonObject(details) && Array.isArray(details['errors'])) {
    return documentErrors(file, details['errors'] as unknown as readonly DocumentError[])
  }
  if (text === 'Configuration has changed') {
    return new CommandError(
      'The configuration changed after the plan was made; nothing was applied.',
      `See the new plan with: ${api.commandLine('plan', '--file', file.name)}`,
    )
  }
  if (text === 'Events are waiting' && isJsonObject(details)) {
    return new CommandError(
      `Waiting events of resources that would be removed: ${oneLine(String(details['waiting']))}. Nothing was applied.`,
      'Wait until they are delivered, or discard them with --discard.',
    )
  }
  return error
}

function refuseErrors(file: ConfigFile, errors: readonly DocumentError[]): void {
  if (errors.length > 0) throw documentErrors(file, errors)
}
