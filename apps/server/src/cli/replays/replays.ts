import type { Paging, Replay } from '@millrace/api-types'
import { grouped, replayOutcome } from '@millrace/wording'
import type { Command } from 'commander'
import { type CommandContext, remote, withExample } from '../command.ts'
import type { CommandIo } from '../command-io.ts'
import { named } from '../events/journey.ts'
import { namesOf } from '../names.ts'
import { columns, json, oneLine, paintFor, time } from '../paint.ts'
import { idInPath, ServerApi, type ServerOptions } from '../server-api.ts'
import { addReplayStart } from './replay-start.ts'

interface Common extends ServerOptions {
  readonly json?: boolean
}

const STEPS = [
  ['pause', 'pause a replay; events already taken still finish'],
  ['resume', 'continue a paused replay'],
  ['cancel', 'cancel a replay; unfinished dead letters are open again'],
] as const

/** `millrace replay …`: replays of the log and jobs over dead letters. */
export function addReplay(program: Command, context: CommandContext): void {
  const { io } = context
  const group = program
    .command('replay')
    .description('replays of the log, and replays and discards of many dead letters')
  addReplayStart(group, context)
  withExample(remote(group.command('list')), 'replay list')
    .description('list them, newest first')
    .option('--limit <n>', 'number to show, 1 to 500 (default 100)')
    .action((options: Common & { limit?: string }) => listReplays(options, io))
  withExample(remote(group.command('show <id>')), 'replay show 37A4poI9SaefdDdDQ6BJiCpwwUV')
    .description('show one with its progress')
    .action((id: string, options: Common) => showReplay(id, options, io))
  for (const [step, description] of STEPS) {
    withExample(remote(group.command(`${step} <id>`)), `replay ${step} 37A4poI9SaefdDdDQ6BJiCpwwUV`)
      .description(description)
      .action((id: string, options: Common) => steer(step, id, options, io))
  }
}

async function listReplays(options: Common & { limit?: string }, io: CommandIo): Promise<void> {
  const api = new ServerApi(options, io)
  const query = options.limit === undefined ? '' : `?${new URLSearchParams({ limit: options.limit })}`
  const answer = await api.get<{ replays: readonly Replay[]; paging: Paging }>(`/v2/replays${query}`)
  if (options.json) {
    io.stdout.write(`${json(answer)}\n`)
    return
  }
  if (answer.replays.length === 0) {
    io.stdout.write('No replays.\n')
    return
  }
  const [head, ...rows] = columns([
    ['CREATED (UTC)', 'ID', 'WHAT', 'STATE', 'MATCHED', 'DELIVERED', 'GIVEN UP', 'DISCARDED', 'BY'],
    ...answer.replays.map((each) => [
      time(each.createdAt),
      oneLine(each.id),
      whatIsDone(each),
      oneLine(each.state),
      each.matched === null ? '' : grouped(each.matched),
      grouped(each.delivered),
      grouped(each.deadLettered),
      grouped(each.discarded),
      oneLine(each.createdBy, 60),
    ]),
  ])
  io.stdout.write(`${[paintFor(io.stdout, io.env)('bold', head!), ...rows].join('\n')}\n`)
}

async function showReplay(id: string, options: Common, io: CommandIo): Promise<void> {
  const api = new ServerApi(options, io)
  const answer = await api.get<{ replay: Replay }>(`/v2/replays/${idInPath(id)}`)
  if (options.json) {
    io.stdout.write(`${json(answer)}\n`)
    return
  }
  const { replay } = answer
  const names = await namesOf(api)
  const matched = replay.matched === null ? 'not counted yet' : `${grouped(replay.matched)} events`
  const facts = columns([
    ['what', whatIsDone(replay)],
    ...replay.sourceIds.map((source, i) => [i === 0 ? 'from' : '', named(source, names)]),
    ...replay.destinationIds.map((destination, i) => [i === 0 ? 'to' : '', named(destination, names)]),
    ...(replay.from === null ? [] : [['since', `${time(replay.from)} UTC`]]),
    ...(replay.to === null ? [] : [['until', `${time(replay.to)} UTC`]]),
    ['rate', `${grouped(replay.rateEventsPerSecond)} a second`],
    ['matched', matched],
    ['started', grouped(replay.taken)],
    ['delivered', grouped(replay.delivered)],
    ['filtered', grouped(replay.filtered)],
    ['given up', grouped(replay.deadLettered)],
    ...(replay.kind === 'discard' ? [['discarded', grouped(replay.discarded)]] : []),
    ['created', `${time(replay.createdAt)} UTC by ${oneLine(replay.createdBy, 60)}`],
    ...(replay.finishedAt === null ? [] : [['finished', `${time(replay.finishedAt)} UTC`]]),
  ])
  const head = paintFor(io.stdout, io.env)('bold', `${oneLine(replay.id)}: ${oneLine(replayOutcome(replay))}`)
  io.stdout.write(`${[head, ...facts.map((line) => `  ${line}`)].join('\n')}\n`)
}

/** The kind of work, and its source. */
function whatIsDone({ kind, origin, dryRun }: Replay): string {
  const what = origin === 'log' ? `${oneLine(kind)} of the log` : oneLine(kind)
  return dryRun ? `${what} (dry run)` : what
}

async function steer(step: (typeof STEPS)[number][0], id: string, options: Common, io: CommandIo): Promise<void> {
  const api = new ServerApi(options, io)
  const answer = await api.send<{ replay: Replay }>('POST', `/v2/replays/${idInPath(id)}/${step}`)
  const { state, id: ofReplay } = answer.replay
  io.stdout.write(options.json ? `${json(answer)}\n` : `${oneLine(ofReplay)} is ${oneLine(state)}\n`)
}
