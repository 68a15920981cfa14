import type { DestinationResult } from '@millrace/api-types'
import { isJsonObject, type JsonObject } from '@millrace/protocol'
import type { Command } from 'commander'
import { type CommandContext, remote, withExample } from '../command.ts'
import { type CommandIo, EXIT, usageError } from '../command-io.ts'
import { json, paintFor } from '../paint.ts'
import { readMessage } from '../read-message.ts'
import { resourceId } from '../resource-options.ts'
import { ServerApi, type ServerOptions } from '../server-api.ts'
import { hasFailed, resultLines } from './result-lines.ts'
import { stageFlags } from './stage-flags.ts'

interface TestOptions extends ServerOptions {
  /** A file, or `-` for standard input. */
  readonly message?: string
  readonly stage: string
  readonly force?: boolean
  readonly json?: boolean
}

/** `millrace test-destination` and `millrace test-source` */
export function addMessageTests(program: Command, { io, exitWith }: CommandContext): void {
  const about = (name: string, what: string, example: string) =>
    withExample(remote(program.command(`${name} <name>`)), example)
      .description(`run a message through the stages of ${what}, by key, name or id; exit code 1 if a stage fails`)
      .option('--message <file>', 'file with the message as JSON; - or none: standard input')
      .option('--stage <stages>', 'comma-separated list of user, dest and send', 'user,dest')
      .option('--force', 'also test disabled destinations')
  about(
    'test-destination',
    'a destination',
    'test-destination booking-hook --message event.json --stage user,dest,send',
  ).action(async (wanted: string, options: TestOptions) => {
    const result = await answer<DestinationResult>('destination', wanted, options, io)
    exitWith(show(result, [result], options, io))
  })
  about('test-source', 'every connected destination of a source', 'test-source cinema-app --message event.json').action(
    async (wanted: string, options: TestOptions) => {
      const results = await answer<DestinationResult[]>('source', wanted, options, io)
      exitWith(show(results, results, options, io))
    },
  )
}

async function answer<T>(
  kind: 'source' | 'destination',
  wanted: string,
  options: TestOptions,
  io: CommandIo,
): Promise<T> {
  const stage = stageFlags(options.stage)
  const message = await messageOf(options, io)
  const api = new ServerApi(options, io)
  const id = await resourceId(api, kind, wanted)
  const operation = kind === 'source' ? 'testSource' : 'testDestination'
  const force = options.force === true ? '?force=true' : ''
  return api.test(`/v0/${operation}/${encodeURIComponent(id)}${force}`, { stage, message })
}

async function messageOf({ message: file }: TestOptions, io: CommandIo): Promise<JsonObject> {
  if (file === undefined && io.stdin.isTTY === true) {
    throw usageError('No message: use --message with a file, or standard input.')
  }
  const text = await readMessage(file ?? '-', io)
  let message: unknown
  try {
    message = JSON.parse(text)
  } catch (error) {
    throw usageError(`The message is not JSON: ${(error as Error).message}`)
  }
  if (!isJsonObject(message)) throw usageError('The message is not a JSON object.')
  return message
}

function show(answered: unknown, results: readonly DestinationResult[], options: TestOptions, io: CommandIo): number {
  const lines = options.json ? [json(answered)] : resultLines(results, paintFor(io.stdout, io.env))
  io.stdout.write(`${lines.join('\n')}\n`)
  return results.some(hasFailed) ? EXIT.failed : EXIT.done
}
