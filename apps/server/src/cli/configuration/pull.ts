import { writeFileSync } from 'node:fs'
import type { JsonObject } from '@millrace/protocol'
import { CommandError, type CommandIo } from '../command-io.ts'
import { json, paintFor } from '../paint.ts'
import { ServerApi, type ServerOptions } from '../server-api.ts'
import { type ConfigFile, parseConfigFile, readConfigFileIfAny } from './config-file.ts'
import { type Difference, withoutLeftOut } from './left-out.ts'
import { mergedFileText, newFileText } from './merge-pulled.ts'
import { filled, MASK } from './placeholders.ts'

export interface PullOptions extends ServerOptions {
  readonly file: string
  readonly json?: boolean
}

interface PullAnswer {
  readonly revision: number
  readonly document: JsonObject
}

/** Writes the configuration of the server into a file. @see contracts/control-plane.md §9 [D716] */
export async function pull(options: PullOptions, io: CommandIo): Promise<void> {
  const api = new ServerApi(options, io)
  const file = readConfigFileIfAny(options.file)
  const answer = await api.get<PullAnswer>('/v2/config')
  const text = file === undefined ? newFileText(answer.document) : await textOver(file, answer, api, io)
  if (text !== file?.text) write(options.file, text)
  if (options.json) {
    io.stdout.write(`${json(answer)}\n`)
    return
  }
  const paint = paintFor(io.stdout, io.env)
  const whose = `${api.url} at revision ${answer.revision}`
  if (text === file?.text) {
    io.stdout.write(`${paint('green', 'unchanged')}  ${options.file} says what ${whose} has\n`)
    return
  }
  io.stdout.write(`${paint('green', 'written')}  ${options.file}, from ${whose}\n`)
  const masks = JSON.stringify(parseConfigFile(options.file, text).document).split(MASK).length - 1
  if (masks > 0) io.stdout.write(`${count(masks, 'secret')} read "${MASK}": what the server has is kept.\n`)
}

/** What the file leaves out, and the server takes as it has it, stays out. */
async function textOver(file: ConfigFile, answer: PullAnswer, api: ServerApi, { env }: CommandIo): Promise<string> {
  const { document } = filled(file.document, env, MASK)
  const plan = await api.post<Difference & { readonly revision: number }>('/v2/config/plan', { document })
  const isOfTheSame = plan.revision === answer.revision
  return mergedFileText(file, isOfTheSame ? withoutLeftOut(answer.document, file.document, plan) : answer.document, env)
}

function write(name: string, text: string): void {
  try {
    writeFileSync(name, text)
  } catch (error) {
    throw new CommandError(`${name} cannot be written: ${(error as Error).message}.`)
  }
}

function count(n: number, noun: string): string {
  return `${n.toLocaleString('en-US')} ${noun}${n === 1 ? '' : 's'}`
}
