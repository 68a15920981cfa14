import type { Command } from 'commander'
import type { Paging, ReplayAnswer } from './answers.ts'
import { type CommandContext, remote, withExample } from './command.ts'
import type { CommandIo } from './command-io.ts'
import { number } from './follow-replay.ts'
import { columns, json, oneLine, paintFor, time } from './paint.ts'
import { ServerApi, type ServerOptions } from './server-api.ts'

interface Common extends ServerOptions {
  readonly json?: boolean
}

const STEPS = [
  ['pause', 'take up nothing more; what is taken up goes on'],
  ['resume', 'go on with a paused one'],
  ['cancel', 'end one: what is not finished is open again'],
] as const

/** `millrace replay …`: jobs over dead letters. @see contracts/delivery.md §7 */
export function addReplay(program: Command, { io }: CommandContext): void {
  const group = program.command('replay').description('replays and discards of many dead letters')
  withExample(remote(group.command('list')), 'replay list')
    .description('list them, newest first')
    .option('--limit <n>', 'how many, 1 to 500 (default 100)')
    .action((options: Common & { limit?: string }) => listReplays(options, io))
  for (const [step, description] of STEPS) {
    withExample(remote(group.command(`${step} <id>`)), `replay ${step} 37A4poI9SaefdDdDQ6BJiCpwwUV`)
      .description(description)
      .action((id: string, options: Common) => steer(step, id, options, io))
  }
}

async function listReplays(options: Common & { limit?: string }, io: CommandIo): Promise<void> {
  const api = new ServerApi(options, io)
  const query = options.limit === undefined ? '' : `?${new URLSearchParams({ limit: options.limit })}`
  const answer = await api.get<{ replays: readonly ReplayAnswer[]; paging: Paging }>(`/v2/replays${query}`)
  if (options.json) {
    io.stdout.write(`${json(answer)}\n`)
    return
  }
  if (answer.replays.length === 0) {
    io.stdout.write('No replays.\n')
    return
  }
  const [head, ...rows] = columns([
    ['CREATED (UTC)', 'ID', 'WHAT', 'STATE', 'MATCHED', 'DELIVERED', 'GIVEN UP AGAIN', 'DISCARDED', 'BY'],
    ...answer.replays.map((each) => [
      time(each.createdAt),
      oneLine(each.id),
      each.dryRun ? `${oneLine(each.kind)} (dry run)` : oneLine(each.kind),
      oneLine(each.state),
      each.matched === null ? '' : number(each.matched),
      number(each.delivered),
      number(each.deadLettered),
      number(each.discarded),
      oneLine(each.createdBy, 60),
    ]),
  ])
  io.stdout.write(`${[paintFor(io.stdout, io.env)('bold', head!), ...rows].join('\n')}\n`)
}

async function steer(step: (typeof STEPS)[number][0], id: string, options: Common, io: CommandIo): Promise<void> {
  const api = new ServerApi(options, io)
  const answer = await api.send<{ replay: ReplayAnswer }>('POST', `/v2/replays/${encodeURIComponent(id)}/${step}`)
  const { state, id: ofReplay } = answer.replay
  io.stdout.write(options.json ? `${json(answer)}\n` : `${oneLine(ofReplay)} is ${oneLine(state)}\n`)
}
