import type { DeadLetter, DeadLetterWithPayloads, Paging } from '@millrace/api-types'
import { counted } from '@millrace/wording'
import type { Command } from 'commander'
import { type CommandContext, remote, withExample } from '../command.ts'
import type { CommandIo } from '../command-io.ts'
import { attemptLines, named } from '../events/journey.ts'
import { namesOf } from '../names.ts'
import { columns, json, oneLine, paintFor, time } from '../paint.ts'
import { withIds } from '../resource-options.ts'
import { idInPath, ServerApi, type ServerOptions } from '../server-api.ts'
import { addDeadLetterActions } from './dead-letter-actions.ts'
import { type DeadLetterFilters, FILTER_NAMES, withDeadLetterFilters } from './dead-letter-filters.ts'

interface ListOptions extends DeadLetterFilters {
  readonly state?: string
  readonly limit?: string
  readonly cursor?: string
}

interface Common extends ServerOptions {
  readonly json?: boolean
}

/** Names of the filters in the query. */
const QUERY = { ...FILTER_NAMES, state: 'state', limit: 'limit', cursor: 'cursor' } satisfies Record<
  keyof ListOptions,
  string
>

/** `millrace dead-letters …` */
export function addDeadLetters(program: Command, context: CommandContext): void {
  const { io } = context
  const group = program.command('dead-letters').description('events that could not be delivered')
  const list = remote(group.command('list'))
  withExample(list, 'dead-letters list --destination 3uLMicKvWtFGwbwBkUIwtP0l8lu').description(
    'list them, newest first',
  )
  withDeadLetterFilters(list, true)
    .option('--limit <n>', 'number to show, 1 to 500 (default 100)')
    .option('--cursor <cursor>', 'position where the previous list ended')
    .action((options: ListOptions & Common) => listDeadLetters(options, io))
  withExample(remote(group.command('show <id>')), 'dead-letters show 3EXM1nH9JtMJ06hF5WfzRPot1LW')
    .description('show one with its event, last request and attempts')
    .action((id: string, options: Common) => showDeadLetter(id, options, io))
  addDeadLetterActions(group, context)
}

async function listDeadLetters(options: ListOptions & Common, io: CommandIo): Promise<void> {
  const api = new ServerApi(options, io)
  const query = new URLSearchParams()
  const filters: ListOptions = await withIds(api, options)
  for (const [filter, name] of Object.entries(QUERY)) {
    const value = filters[filter as keyof ListOptions]
    if (value !== undefined) query.set(name, value)
  }
  const path = query.size === 0 ? '/v2/dead-letters' : `/v2/dead-letters?${query}`
  const answer = await api.get<{ deadLetters: readonly DeadLetter[]; paging: Paging }>(path)
  if (options.json) {
    io.stdout.write(`${json(answer)}\n`)
    return
  }
  const { deadLetters, paging } = answer
  if (deadLetters.length === 0) {
    io.stdout.write(`No ${oneLine(options.state ?? 'open')} dead letters${query.size > 0 ? ' that match' : ''}.\n`)
    return
  }
  const paint = paintFor(io.stdout, io.env)
  const names = await namesOf(api)
  const [head, ...rows] = columns([
    ['DEAD AT (UTC)', 'ID', 'EVENT', 'DESTINATION', 'STAGE', 'REASON', 'LAST ANSWER'],
    ...deadLetters.map((each) => [
      time(each.deadAt),
      oneLine(each.id),
      title(each, 40),
      oneLine(names.get(each.destinationId) ?? each.destinationId, 30),
      oneLine(each.stage),
      oneLine(each.reason, 40),
      each.lastStatus === null ? '' : oneLine(`${each.lastStatus} ${each.lastAnswer ?? ''}`, 60),
    ]),
  ])
  const cursor = paging.next === '' ? null : new URL(paging.next, api.url).searchParams.get('cursor')
  io.stdout.write(`${[paint('bold', head!), ...rows.map((row) => row.trimEnd())].join('\n')}\n`)
  if (cursor !== null)
    io.stdout.write(`${paint('dim', `More: repeat the command with --cursor ${oneLine(cursor, 4_000)}`)}\n`)
}

async function showDeadLetter(id: string, options: Common, io: CommandIo): Promise<void> {
  const api = new ServerApi(options, io)
  const answer = await api.get<{ deadLetter: DeadLetterWithPayloads }>(`/v2/dead-letters/${idInPath(id)}`)
  if (options.json) {
    io.stdout.write(`${json(answer)}\n`)
    return
  }
  const paint = paintFor(io.stdout, io.env)
  const names = await namesOf(api)
  const letter = answer.deadLetter
  const { request, answer: last, history = [] } = letter
  const facts = columns([
    ['id', oneLine(letter.id)],
    ['message', oneLine(letter.messageId)],
    ...(letter.userId === null ? [] : [['user', oneLine(letter.userId)]]),
    ['source', named(letter.sourceId, names)],
    ['destination', named(letter.destinationId, names)],
    ['accepted', `${time(letter.acceptedAt)} UTC`],
    ['dead', `${time(letter.deadAt)} UTC, after ${counted(letter.attempts, 'attempt')}`],
    ...(request?.endpoint === undefined
      ? []
      : [
          [
            'request',
            `${oneLine(request.method ?? '')} ${oneLine(request.endpoint, 2_000)}${request.rendered ? ' (rendered again)' : ''}`,
          ],
        ]),
    ...Object.entries(request?.headers ?? {}).map(([name, value]) => ['', oneLine(`${name}: ${value}`)]),
    ...(last === null || last === undefined ? [] : [['answer', oneLine(`${last.status} ${last.text ?? ''}`, 2_000)]]),
  ])
  const lines = [
    `${paint('bold', title(letter))}: ${paint('red', oneLine(letter.reason))} (${oneLine(letter.stage)}, ${oneLine(letter.state)})`,
    ...facts.map((line) => `  ${line}`),
    ...(history.length === 0 ? [] : ['', '  attempts', ...attemptLines(history, paint).map((line) => `    ${line}`)]),
    ...(letter.event === undefined
      ? []
      : [
          '',
          '  event',
          ...json(letter.event)
            .split('\n')
            .map((line) => `    ${line}`),
        ]),
  ]
  io.stdout.write(`${lines.join('\n')}\n`)
}

function title({ eventType, eventName }: DeadLetter, maxLength = 200): string {
  return oneLine(eventName === null || eventName === '' ? eventType : `${eventType} "${eventName}"`, maxLength)
}
