import type { Replay, StartedReplay } from '@millrace/api-types'
import { replayOutcome } from '@millrace/wording'
import type { Command } from 'commander'
import { type CommandContext, remote, withExample } from '../command.ts'
import { type CommandIo, usageError } from '../command-io.ts'
import { json, type Paint, paintFor } from '../paint.ts'
import { askFor, refuseUnlessAnswerable } from '../question.ts'
import { ServerApi, type ServerOptions } from '../server-api.ts'
import { followReplay, number } from './follow-replay.ts'
import { atRate, type RateOption, rateOption } from './rate-option.ts'

interface Filters {
  readonly destination?: string
  readonly source?: string
  readonly stage?: string
  readonly reason?: string
  readonly user?: string
  readonly message?: string
  readonly from?: string
  readonly to?: string
}

/** Only a replay has a rate. */
interface ActionOptions extends Filters, RateOption, ServerOptions {
  readonly all?: boolean
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

type Action = 'replay' | 'discard'

/** Names of the filters in the body. */
const FILTERS: Record<keyof Filters, string> = {
  destination: 'destinationId',
  source: 'sourceId',
  stage: 'stage',
  reason: 'reason',
  user: 'userId',
  message: 'messageId',
  from: 'from',
  to: 'to',
}

/** `millrace dead-letters replay` and `discard`. */
export function addDeadLetterActions(group: Command, { io }: CommandContext): void {
  const actions = [
    ['replay', 'deliver open dead letters again, with the current configuration'],
    ['discard', 'end open dead letters without sending them'],
  ] as const
  for (const [action, description] of actions) {
    const command = remote(group.command(`${action} [ids...]`)).description(description)
    withExample(command, `dead-letters ${action} --destination 3uLMicKvWtFGwbwBkUIwtP0l8lu --dry-run`)
      .option('--destination <id>', 'only of this destination')
      .option('--source <id>', 'only of this source')
      .option('--stage <stage>', 'user_transformation, dest_transformation, delivery or internal')
      .option('--reason <reason>', 'only with this reason')
      .option('--user <id>', 'only of this userId')
      .option('--message <id>', 'only of this messageId')
      .option('--from <time>', 'dead-lettered at or after this time')
      .option('--to <time>', 'dead-lettered before this time')
      .option('--all', 'all of them')
      .option('--dry-run', 'only count them')
      .option('--yes', 'without a question')
    if (action === 'replay') command.addOption(rateOption())
    command.action((ids: readonly string[], options: ActionOptions) => act(action, ids, options, io))
  }
}

async function act(action: Action, ids: readonly string[], options: ActionOptions, io: CommandIo): Promise<void> {
  const selection = selectionOf(ids, options)
  if (!options.dryRun) refuseUnlessAnswerable(options.yes, io)
  const api = new ServerApi(options, io)
  if (options.dryRun) {
    show(action, await startAndFollow(action, { ...selection, dryRun: true }, api, io), options, io)
    return
  }
  if (!options.yes) {
    const counted = ids.length > 0 ? ids.length : await countOf(action, selection, api, io)
    await askFor(`${action === 'replay' ? 'Replay' : 'Discard'} ${letters(counted)}?`, options.yes, io)
  }
  const [only] = ids
  if (only === undefined || ids.length > 1) {
    show(action, await startAndFollow(action, selection, api, io), options, io)
  } else if (action === 'replay') {
    const path = `/v2/dead-letters/${encodeURIComponent(only)}/replay`
    const { replayId } = await api.send<StartedReplay>('POST', path)
    show(action, await followReplay(replayId, api, io), options, io)
  } else {
    await api.send('DELETE', `/v2/dead-letters/${encodeURIComponent(only)}`)
    // The answer of the route has no body.
    if (!options.json) io.stdout.write(`${paintFor(io.stdout, io.env)('green', 'discarded')}  ${letters(1)}\n`)
  }
}

function selectionOf(ids: readonly string[], options: ActionOptions) {
  const filter: Record<string, string> = options.all ? { state: 'open' } : {}
  for (const [option, name] of Object.entries(FILTERS)) {
    const value = options[option as keyof Filters]
    if (value !== undefined) filter[name] = value
  }
  const isFiltered = Object.keys(filter).length > 0
  if (isFiltered === ids.length > 0) {
    throw usageError('Give ids, filters, or --all.', 'millrace dead-letters list')
  }
  const selected = isFiltered ? { filter } : { ids }
  return { ...selected, ...atRate(options) }
}

async function countOf(action: Action, selection: object, api: ServerApi, io: CommandIo): Promise<number> {
  const { matched } = await startAndFollow(action, { ...selection, dryRun: true }, api, io)
  return matched ?? 0
}

async function startAndFollow(action: Action, body: object, api: ServerApi, io: CommandIo): Promise<Replay> {
  const { replayId } = await api.post<StartedReplay>(`/v2/dead-letters/${action}`, body)
  return followReplay(replayId, api, io)
}

function show(action: Action, replay: Replay, options: ActionOptions, io: CommandIo): void {
  if (options.json) io.stdout.write(`${json({ replay })}\n`)
  else io.stdout.write(`${resultLine(action, replay, paintFor(io.stdout, io.env))}\n`)
}

function resultLine(action: Action, replay: Replay, paint: Paint): string {
  const { dryRun, state, matched, deadLettered } = replay
  if (dryRun) return `${letters(matched ?? 0)} would be ${action === 'replay' ? 'replayed' : 'discarded'}.`
  const colour = deadLettered > 0 ? 'red' : state === 'done' ? 'green' : 'yellow'
  return paint(colour, replayOutcome(replay))
}

function letters(n: number): string {
  return `${number(n)} dead letter${n === 1 ? '' : 's'}`
}
