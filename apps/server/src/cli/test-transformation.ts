import type { TransformationRun } from '@millrace/api-types'
import { isJsonObject, type JsonValue } from '@millrace/protocol'
import type { Command } from 'commander'
import { type CommandContext, remote, withExample } from './command.ts'
import { CommandError, type CommandIo, EXIT, usageError } from './command-io.ts'
import { json, oneLine, type Paint, paintFor } from './paint.ts'
import { readMessage } from './read-message.ts'
import { AnswerError, ServerApi, type ServerOptions } from './server-api.ts'

interface TestTransformationOptions extends ServerOptions {
  /** A file, or `-` for standard input. */
  readonly events: string
  readonly json?: boolean
}

/** `millrace test-transformation` */
export function addTestTransformation(program: Command, { io, exitWith }: CommandContext): void {
  withExample(
    remote(program.command('test-transformation <file>')),
    'test-transformation transformations/add-cents.js --events event.json',
  )
    .description('run the code of a file on events, on the server, without saving; exit code 1 if an event fails')
    .requiredOption('--events <file>', 'file with an event or a list of events as JSON; - is standard input')
    .action(async (file: string, options: TestTransformationOptions) => exitWith(await test(file, options, io)))
}

/** @returns the exit code: failed if the code failed on an event. */
async function test(file: string, options: TestTransformationOptions, io: CommandIo): Promise<number> {
  const code = await readMessage(file, io)
  const events = eventsIn(await readMessage(options.events, io))
  const language = /\.[mc]?ts$/.test(file) ? 'typescript' : 'javascript'
  const api = new ServerApi(options, io)
  const answer = await api
    .test<TransformationRun>('/v2/transformations/test', { language, code, events })
    .catch((error: Error) => {
      throw error instanceof AnswerError ? placed(error, file) : error
    })
  if (options.json) io.stdout.write(`${json(answer)}\n`)
  else io.stdout.write(`${lines(answer, paintFor(io.stdout, io.env)).join('\n')}\n`)
  return answer.transformedEvents.some((each) => 'error' in each) ? EXIT.failed : EXIT.done
}

function eventsIn(text: string): readonly JsonValue[] {
  let value: JsonValue
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw usageError(`The events are not JSON: ${(error as Error).message}`)
  }
  if (Array.isArray(value)) return value
  if (isJsonObject(value)) return [value]
  throw usageError('The file must hold an event or a list of events.')
}

/** Shows the place in the file if the server refuses the code. */
function placed(error: AnswerError, file: string): Error {
  const { text, details } = error.said
  if (error.status !== 400 || text === '') return error
  const { line, column } = isJsonObject(details) ? details : {}
  return new CommandError(`${file}${line === undefined ? '' : `:${line}:${column}`} ${oneLine(text, 1_000)}`)
}

/** The result of each event, then the lines that the code logged. */
function lines({ transformedEvents, logs }: TransformationRun, paint: Paint): string[] {
  const outcomes = transformedEvents.flatMap((each) => {
    const which = `event ${each.input}`
    if ('event' in each) return [`${paint('green', which)}  ${json(each.event, 0)}`]
    if ('dropped' in each) return [`${paint('yellow', which)}  dropped`]
    const [text = '', ...stack] = each.error.split('\n')
    return [`${paint('red', which)}  ${oneLine(text, 1_000)}`, ...stack.map((line) => `    ${oneLine(line)}`)]
  })
  return logs.length === 0 ? outcomes : [...outcomes, '', ...logs.map((line) => paint('dim', oneLine(line, 4_096)))]
}
