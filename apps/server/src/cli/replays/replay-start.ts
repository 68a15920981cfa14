import type { Replay } from '@millrace/api-types'
import { counted } from '@millrace/wording'
import type { Command } from 'commander'
import { type CommandContext, remote, withExample } from '../command.ts'
import { type CommandIo, usageError } from '../command-io.ts'
import { commandLine } from '../command-line.ts'
import { json, oneLine, paintFor } from '../paint.ts'
import { askFor, refuseUnlessAnswerable } from '../question.ts'
import { resourceIds } from '../resource-options.ts'
import { ServerApi, type ServerOptions } from '../server-api.ts'
import { asCounted, followReplay } from './follow-replay.ts'
import { atRate, type RateOption, rateOption } from './rate-option.ts'

interface Lists {
  readonly source?: readonly string[]
  readonly destination?: readonly string[]
  readonly type?: readonly string[]
  readonly event?: readonly string[]
  readonly user?: readonly string[]
  readonly message?: readonly string[]
  readonly outcome?: readonly string[]
}

interface StartOptions extends Lists, RateOption, ServerOptions {
  readonly from?: string
  readonly to?: string
  readonly dryRun?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

/** Names of the filters in the body. */
const FILTERS = { type: 'types', event: 'events', user: 'userIds', message: 'messageIds', outcome: 'outcomes' } as const

/** `millrace replay start`: delivers a range of the log again. */
export function addReplayStart(group: Command, { io }: CommandContext): void {
  const command = remote(group.command('start')).description('deliver the events of a time range again')
  withExample(
    command,
    'replay start --source 3iidO0kXIpgrmam9JhPLS2gpoVe --destination 3uLMicKvWtFGwbwBkUIwtP0l8lu \\',
    '    --from 2026-03-03T00:00:00Z --to 2026-03-04T00:00:00Z --rate 200 --dry-run',
  )
    .option('--source <sources...>', 'events of these sources: ids, keys or names')
    .option('--destination <destinations...>', 'to these destinations: ids, keys or names')
    .option('--from <time>', 'accepted at or after this time')
    .option('--to <time>', 'accepted before this time (default: now)')
    .option('--type <types...>', 'only of these types')
    .option('--event <names...>', 'only of these names')
    .option('--user <ids...>', 'only of these userIds')
    .option('--message <ids...>', 'only of these messageIds')
    .option('--outcome <outcomes...>', 'only with these outcomes at the destination, such as expired')
    .addOption(rateOption())
    .option('--dry-run', 'only count them')
    .option('--yes', 'without a question')
    .action((options: StartOptions) => startReplay(options, io))
}

async function startReplay(options: StartOptions, io: CommandIo): Promise<void> {
  const { sources, destinations, ...rest } = wantedOf(options, io)
  if (!options.dryRun) refuseUnlessAnswerable(options.yes, io)
  const api = new ServerApi(options, io)
  const [sourceIds, destinationIds] = await Promise.all([
    resourceIds(api, 'source', sources),
    resourceIds(api, 'destination', destinations),
  ])
  const body = { sourceIds, destinationIds, ...rest }
  if (options.dryRun || !options.yes) {
    const count = asCounted(await followReplay((await start({ ...body, dryRun: true }, api)).id, api, io), api)
    if (options.dryRun) {
      io.stdout.write(
        options.json ? `${json({ replay: count })}\n` : `${counted(count.matched, 'event')} would be replayed.\n`,
      )
      return
    }
    await askFor(`Replay ${counted(count.matched, 'event')}?`, options.yes, io)
  }
  const replay = await start(body, api)
  if (options.json) {
    io.stdout.write(`${json({ replay })}\n`)
    return
  }
  const paint = paintFor(io.stdout, io.env)
  io.stdout.write(`${paint('green', oneLine(replay.state))}  ${oneLine(replay.id)}\n`)
  io.stdout.write(`${paint('dim', `Progress: ${api.commandLine('replay', 'show', replay.id)}`)}\n`)
}

async function start(body: object, api: ServerApi): Promise<Replay> {
  return (await api.send<{ replay: Replay }>('POST', '/v2/replays', body)).replay
}

function wantedOf(options: StartOptions, { clock }: CommandIo) {
  const { source, destination, from, to = new Date(clock.now()).toISOString() } = options
  if (source === undefined || destination === undefined || from === undefined) {
    throw usageError(
      '--source, --destination and --from are required.',
      `Its options: ${commandLine(['help', 'replay', 'start'])}`,
    )
  }
  const filter: Record<string, readonly string[]> = {}
  for (const [option, name] of Object.entries(FILTERS)) {
    const values = options[option as keyof typeof FILTERS]
    if (values !== undefined) filter[name] = values
  }
  return { sources: source, destinations: destination, from, to, filter, ...atRate(options) }
}
