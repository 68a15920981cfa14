import type { Replay, StartedReplay } from '@millrace/api-types'
import { counted, replayOutcome } from '@millrace/wording'
import type { Command } from 'commander'
import { type CommandContext, remote, withExample } from '../command.ts'
import { type CommandIo, EXIT, usageError } from '../command-io.ts'
import { json, type Paint, paintFor } from '../paint.ts'
import { askFor, refuseUnlessAnswerable } from '../question.ts'
import { withIds } from '../resource-options.ts'
import { idInPath, ServerApi, type ServerOptions } from '../server-api.ts'
import { type DeadLetterFilters, FILTER_NAMES, withDeadLetterFilters } from './dead-letter-filters.ts'
import { asCounted, type Counted, followReplay } from './follow-replay.ts'
import { atRate, type RateOption, rateOption } from './rate-option.ts'

/** Only a replay has a rate. */
interface ActionOptions extends DeadLetterFilters, RateOption, ServerOptions {
  readonly all?: boolean
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

type Action = 'replay' | 'discard'

/** `millrace dead-letters replay` and `discard`. */
export function addDeadLetterActions(group: Command, { io, exitWith }: CommandContext): void {
  const actions = [
    ['replay', 'deliver open dead letters again, with the current configuration'],
    ['discard', 'end open dead letters without sending them'],
  ] as const
  for (const [action, description] of actions) {
    const command = remote(group.command(`${action} [ids...]`)).description(description)
    withExample(command, `dead-letters ${action} --destination 3uLMicKvWtFGwbwBkUIwtP0l8lu --dry-run`)
    withDeadLetterFilters(command, false)
      .option('--all', 'all of them')
      .option('--dry-run', 'only count them')
      .option('--yes', 'without a question')
    if (action === 'replay') command.addOption(rateOption())
    command.action(async (ids: readonly string[], options: ActionOptions) =>
      exitWith(await act(action, ids, options, io)),
    )
  }
}

/** @returns the exit code: failed unless every dead letter was replayed or discarded. */
async function act(action: Action, ids: readonly string[], options: ActionOptions, io: CommandIo): Promise<number> {
  const api = new ServerApi(options, io)
  refuseUnlessSelected(ids, options, api)
  if (!options.dryRun) refuseUnlessAnswerable(options.yes, io)
  const selection = selectionOf(ids, await withIds(api, options))
  if (options.dryRun) {
    return show(action, await count(action, selection, api, io), options, io)
  }
  if (!options.yes) {
    const matched = ids.length > 0 ? ids.length : (await count(action, selection, api, io)).matched
    await askFor(`${action === 'replay' ? 'Replay' : 'Discard'} ${counted(matched, 'dead letter')}?`, options.yes, io)
  }
  const [only] = ids
  if (only === undefined || ids.length > 1) {
    return show(action, await startAndFollow(action, selection, api, io), options, io)
  }
  if (action === 'replay') {
    const path = `/v2/dead-letters/${idInPath(only)}/replay`
    const { replayId } = await api.send<StartedReplay>('POST', path)
    return show(action, await followReplay(replayId, api, io), options, io)
  }
  await api.send('DELETE', `/v2/dead-letters/${idInPath(only)}`)
  // The answer of the route has no body.
  if (!options.json)
    io.stdout.write(`${paintFor(io.stdout, io.env)('green', 'discarded')}  ${counted(1, 'dead letter')}\n`)
  return EXIT.done
}

function selectionOf(ids: readonly string[], options: ActionOptions) {
  const filter: Record<string, string> = options.all ? { state: 'open' } : {}
  for (const [option, name] of Object.entries(FILTER_NAMES)) {
    const value = options[option as keyof DeadLetterFilters]
    if (value !== undefined) filter[name] = value
  }
  return { ...(ids.length > 0 ? { ids } : { filter }), ...atRate(options) }
}

function refuseUnlessSelected(ids: readonly string[], options: ActionOptions, api: ServerApi): void {
  const isFiltered =
    options.all === true ||
    Object.keys(FILTER_NAMES).some((option) => options[option as keyof DeadLetterFilters] !== undefined)
  if (isFiltered === ids.length > 0) {
    throw usageError('Give ids, filters, or --all.', `List them with: ${api.commandLine('dead-letters', 'list')}`)
  }
}

async function count(action: Action, selection: object, api: ServerApi, io: CommandIo): Promise<Counted> {
  return asCounted(await startAndFollow(action, { ...selection, dryRun: true }, api, io), api)
}

async function startAndFollow(action: Action, body: object, api: ServerApi, io: CommandIo): Promise<Replay> {
  const { replayId } = await api.post<StartedReplay>(`/v2/dead-letters/${action}`, body)
  return followReplay(replayId, api, io)
}

function show(action: Action, replay: Replay, options: ActionOptions, io: CommandIo): number {
  if (options.json) io.stdout.write(`${json({ replay })}\n`)
  else io.stdout.write(`${resultLine(action, replay, paintFor(io.stdout, io.env))}\n`)
  return replay.state === 'done' && replay.deadLettered === 0 ? EXIT.done : EXIT.failed
}

function resultLine(action: Action, replay: Replay, paint: Paint): string {
  const { dryRun, state, matched, deadLettered } = replay
  if (dryRun)
    return `${counted(matched ?? 0, 'dead letter')} would be ${action === 'replay' ? 'replayed' : 'discarded'}.`
  const colour = deadLettered > 0 ? 'red' : state === 'done' ? 'green' : 'yellow'
  return paint(colour, replayOutcome(replay))
}
