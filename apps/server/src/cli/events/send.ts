import { randomUUID } from 'node:crypto'
import type { Source } from '@millrace/api-types'
import { grouped } from '@millrace/wording'
import type { Command } from 'commander'
import { type CommandContext, remote, withExample } from '../command.ts'
import { CommandError, type CommandIo, usageError } from '../command-io.ts'
import { json, oneLine, paintFor } from '../paint.ts'
import { readMessage } from '../read-message.ts'
import { findResource } from '../resource-options.ts'
import { ServerApi, type ServerOptions } from '../server-api.ts'
import { type EventOptions, eventOfOptions, eventsOfMessage } from './event-to-send.ts'
import { eventTitle } from './journey.ts'

interface SendOptions extends EventOptions, ServerOptions {
  readonly writeKey?: string
  readonly source?: string
  /** A file, or `-` for standard input. */
  readonly message?: string
  readonly backfill?: boolean
  readonly json?: boolean
}

const SHOWN_EVENTS = 20

/** `millrace send` */
export function addSend(program: Command, { io }: CommandContext): void {
  withExample(
    remote(program.command('send [type] [name]')),
    'send track "Seat Reserved" --user u-1 --property hall=B price=18.5',
  )
    .description('send one event, or a file of events')
    .option('--user <id>', 'userId')
    .option('--anonymous <id>', 'anonymousId; generated if --user is missing too')
    .option('--property <name=value...>', 'property (identify, group: trait); the value may be JSON')
    .option('--message <file>', 'JSON of an event, a list or a batch; - is standard input')
    .option('--backfill', 'send the events as history: they wait while live events are due')
    .option('--write-key <key>', 'write key of the source')
    .option('--source <source>', 'id, key or name of the source (default: the one named Quickstart)')
    .action((type: string | undefined, name: string | undefined, options: SendOptions) => send(type, name, options, io))
}

/** Sends an event, or the events of a message. */
async function send(
  type: string | undefined,
  name: string | undefined,
  options: SendOptions,
  io: CommandIo,
): Promise<void> {
  const { path, body, events } = await eventsOf(type, name, options, io)
  if (options.backfill && options.message === undefined) {
    throw usageError('--backfill needs --message with a list or a batch of events.')
  }
  const api = new ServerApi(options, io)
  const source = options.writeKey === undefined ? await findSource(api, options.source) : undefined
  const answer = await api.postEvents(path, options.writeKey ?? source!.writeKey, JSON.stringify(body))
  const messageIds = events.map((event) => String(event['messageId']).trim())
  if (options.json) {
    io.stdout.write(`${json({ answer, messageIds })}\n`)
    return
  }
  const paint = paintFor(io.stdout, io.env)
  const shown = events.slice(0, SHOWN_EVENTS)
  const say = (line: string) => io.stdout.write(`${line}\n`)
  say(`${paint('green', 'accepted')}  by ${api.url}${source === undefined ? '' : `, source ${oneLine(source.name)}`}`)
  for (const [i, event] of shown.entries()) {
    say(`  ${paint('bold', eventTitle(event))}  messageId ${oneLine(messageIds[i]!)}`)
  }
  if (events.length > shown.length) say(`  and ${grouped(events.length - shown.length)} more`)
  if (messageIds[0] !== undefined) say(`Trace it: ${api.commandLine('trace', messageIds[0])}`)
}

async function eventsOf(type: string | undefined, name: string | undefined, options: SendOptions, io: CommandIo) {
  if (options.message === undefined) {
    if (type === undefined) throw usageError('Nothing to send: give a type, such as track, or --message.')
    return eventOfOptions(type, name, options, randomUUID)
  }
  if (name !== undefined || options.user !== undefined || options.anonymous !== undefined || options.property) {
    throw usageError('--message is the whole event: use it without a name, --user, --anonymous and --property.')
  }
  return eventsOfMessage(await readMessage(options.message, io), type, randomUUID, options.backfill)
}

/** Without a name: the source of the first start. */
async function findSource(api: ServerApi, wanted: string | undefined): Promise<Source> {
  if (wanted !== undefined) return findResource<Source>(api, 'source', wanted)
  return findResource<Source>(api, 'source', 'quickstart').catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error
    throw new CommandError(`${api.url} has no source "Quickstart": use --source or --write-key.`, error.advice)
  })
}
