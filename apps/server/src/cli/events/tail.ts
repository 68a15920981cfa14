import type { TailAccepted, TailOutcome, TailSkipped } from '@millrace/api-types'
import { grouped } from '@millrace/wording'
import type { Command } from 'commander'
import { type CommandContext, remote, withExample } from '../command.ts'
import { CommandError, type CommandIo } from '../command-io.ts'
import { namesOf, type ResourceNames } from '../names.ts'
import { duration, json, oneLine, type Paint, paintFor, time } from '../paint.ts'
import { withIds } from '../resource-options.ts'
import { AnswerError, ServerApi, type ServerOptions } from '../server-api.ts'
import { eventTitle, OUTCOME_COLOURS } from './journey.ts'
import type { ServerEvent } from './server-events.ts'

interface TailFilters {
  readonly source?: string
  readonly type?: string
  readonly name?: string
  readonly user?: string
  readonly outcome?: string
  readonly destination?: string
}

interface TailOptions extends TailFilters, ServerOptions {
  readonly json?: boolean
}

/** Names of the filters in the query. */
const QUERY: Record<keyof TailFilters, string> = {
  source: 'sourceId',
  type: 'type',
  name: 'name',
  user: 'userId',
  outcome: 'outcome',
  destination: 'destinationId',
}

const TRY_AGAIN_MS = 1_000

/** `millrace tail`. */
export function addTail(program: Command, { io }: CommandContext): void {
  withExample(remote(program.command('tail')), 'tail --type track --name "Seat Reserved"')
    .description('show events and their outcomes live; Ctrl-C ends it')
    .option('--source <source>', 'only of this source: its id, key or name')
    .option('--type <type>', 'only of this type, such as track')
    .option('--name <name>', 'only events of this name')
    .option('--user <id>', 'only of this userId')
    .option('--outcome <outcome>', 'only this outcome, such as dead_lettered')
    .option('--destination <destination>', 'only outcomes at this destination: its id, key or name')
    .action((options: TailOptions) => tail(options, io))
}

/** Shows accepted events and their outcomes as they happen, until it is stopped. */
async function tail(options: TailOptions, io: CommandIo): Promise<void> {
  const api = new ServerApi(options, io)
  const stop = new AbortController()
  const stopped = io.untilStopped().then(() => stop.abort())
  const show = options.json ? jsonLine : lineFor(await namesOf(api), paintFor(io.stdout, io.env))
  const paint = paintFor(io.stderr, io.env)
  const note = (text: string) => io.stderr.write(`${paint('dim', text)}\n`)
  const path = pathOf(await withIds(api, options))
  let wasOpen = false
  let isLost = false
  const onOpen = () => {
    if (isLost) note(`Connected again to ${api.url}.`)
    else if (io.stderr.isTTY) note(`Watching ${api.url}; Ctrl-C ends it.`)
    wasOpen = true
    isLost = false
  }
  while (!stop.signal.aborted) {
    try {
      for await (const event of api.listen(path, stop.signal, onOpen)) io.stdout.write(`${show(event)}\n`)
    } catch (error) {
      if (stop.signal.aborted) return
      if (!wasOpen || !mayPass(error as Error)) throw error
    }
    if (stop.signal.aborted) return
    if (!isLost) note(`The connection to ${api.url} was lost; reconnecting.`)
    isLost = true
    await Promise.race([stopped, new Promise<void>((resolve) => io.clock.setTimer(resolve, TRY_AGAIN_MS))])
  }
}

/** During a restart the server is first absent, then not ready. */
function mayPass(error: Error): boolean {
  return error instanceof AnswerError ? error.status >= 500 : error instanceof CommandError
}

function pathOf(options: TailFilters): string {
  const query = new URLSearchParams()
  for (const [filter, name] of Object.entries(QUERY)) {
    const value = options[filter as keyof TailFilters]
    if (value !== undefined) query.set(name, value)
  }
  return query.size === 0 ? '/v2/tail' : `/v2/tail?${query}`
}

function jsonLine({ name, data }: ServerEvent): string {
  return json({ event: name, data: JSON.parse(data) }, 0)
}

/** Number of events whose titles are stored to show with their outcomes. */
const MAX_TITLES = 1_000
const WIDTHS = { time: 12, what: 13, event: 32, where: 40 }

/** Lines with fixed columns; the last one is the messageId. */
function lineFor(names: ResourceNames, paint: Paint): (event: ServerEvent) => string {
  const titles = new Map<string, string>()
  const line = (at: string, what: string, title: string, where: string, messageId: string) =>
    [at.padEnd(WIDTHS.time), what, cell(title, WIDTHS.event), cell(where, WIDTHS.where), oneLine(messageId)].join('  ')
  return ({ name, data }) => {
    if (name === 'accepted') {
      const { messageId, acceptedAt, sourceId, type, userId, ...event } = JSON.parse(data) as TailAccepted
      const title = eventTitle({ type, name: event.name })
      if (titles.size >= MAX_TITLES) titles.delete(titles.keys().next().value!)
      titles.set(messageId, title)
      const source = `from ${names.get(sourceId) ?? sourceId}`
      const where = userId === null ? source : `${source}, user ${userId}`
      return line(time(acceptedAt).slice(11), paint('cyan', 'accepted'.padEnd(WIDTHS.what)), title, where, messageId)
    }
    if (name === 'outcome') {
      const { messageId, destinationId, outcome, reason, status, durationMs } = JSON.parse(data) as TailOutcome
      const colour = OUTCOME_COLOURS[outcome]
      const what = cell(outcome.replaceAll('_', ' '), WIDTHS.what)
      const destination = `→ ${names.get(destinationId) ?? destinationId}`
      const answer = status === null ? '' : ` ${status} ${duration(durationMs ?? 0)}`
      const where = `${destination}${answer}${reason === null ? '' : `: ${reason}`}`
      return line('', colour === undefined ? what : paint(colour, what), titles.get(messageId) ?? '', where, messageId)
    }
    const { count } = JSON.parse(data) as TailSkipped
    const text = `${grouped(count)} not shown: more than 50 a second. Narrow the filter to see all.`
    return paint('yellow', `${''.padEnd(WIDTHS.time)}  ${text}`)
  }
}

function cell(text: string, width: number): string {
  return oneLine(text, width).padEnd(width)
}
