import type { EventTrace } from '@millrace/api-types'
import type { Clock } from '@millrace/std'
import type { Command } from 'commander'
import { type CommandContext, remote, withExample } from '../command.ts'
import type { CommandIo } from '../command-io.ts'
import { namesOf } from '../names.ts'
import { json, oneLine, paintFor } from '../paint.ts'
import { withIds } from '../resource-options.ts'
import { AnswerError, idInPath, ServerApi, type ServerOptions } from '../server-api.ts'
import { isOnItsWay, journeyLines } from './journey.ts'

interface TraceOptions extends ServerOptions {
  readonly source?: string
  readonly json?: boolean
}

/** An event is visible within a second, and has usually reached its destinations by then. */
const PATIENCE_MS = 2_000
const POLL_MS = 100

/** `millrace trace` */
export function addTrace(program: Command, { io }: CommandContext): void {
  withExample(remote(program.command('trace <messageId>')), 'trace 8ed31aa9-450f-4a72-87aa-05033556fa4d')
    .description('show the outcome of an event at every destination')
    .option('--source <source>', 'only of this source: its id, key or name')
    .action((messageId: string, options: TraceOptions) => trace(messageId, options, io))
}

/** Shows the trace of each accepted event with a messageId. */
async function trace(messageId: string, options: TraceOptions, io: CommandIo): Promise<void> {
  const api = new ServerApi(options, io)
  const { source } = await withIds(api, options)
  const answer = await settledTrace(api, messageId, source, io.clock)
  if (options.json) {
    io.stdout.write(`${json(answer)}\n`)
    return
  }
  const names = await namesOf(api)
  const paint = paintFor(io.stdout, io.env)
  for (const [i, journey] of answer.events.entries()) {
    if (i > 0) io.stdout.write('\n')
    io.stdout.write(`${journeyLines(journey, names, paint).join('\n')}\n`)
  }
}

async function settledTrace(api: ServerApi, messageId: string, source: string | undefined, clock: Clock) {
  const query = source === undefined ? '' : `?sourceId=${encodeURIComponent(source)}`
  const path = `/v2/events/${idInPath(messageId)}${query}`
  const end = clock.monotonic() + PATIENCE_MS
  for (;;) {
    const answer = await api.get<{ events: readonly EventTrace[] }>(path).catch((error: Error) => {
      if (error instanceof AnswerError && error.status === 404) return undefined
      throw error
    })
    const isLastLook = clock.monotonic() >= end
    if (answer !== undefined && (isLastLook || !answer.events.some(isOnItsWay))) return answer
    if (isLastLook) {
      throw new AnswerError(
        404,
        `No event with messageId ${oneLine(messageId)} at ${api.url}.`,
        'It was not accepted, belongs to another source, or finished more than 168 hours ago.',
      )
    }
    await new Promise<void>((resolve) => clock.setTimer(resolve, POLL_MS))
  }
}
