import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Configuration, ConfigurationPlan } from '@millrace/api-types'
import { counted } from '@millrace/wording'
import type { CommandIo } from '../command-io.ts'
import { json, oneLine, paintFor } from '../paint.ts'
import { ServerApi, type ServerOptions } from '../server-api.ts'
import { writeFile } from '../write-file.ts'
import { type CodeInFiles, inFiles, withCode } from './code-files.ts'
import { type ConfigFile, parseConfigFile, readConfigFileIfAny } from './config-file.ts'
import { withoutLeftOut, withStated } from './left-out.ts'
import { mergedFileText, newFileText } from './merge-pulled.ts'
import { filled, MASK } from './placeholders.ts'

export interface PullOptions extends ServerOptions {
  readonly file: string
  readonly json?: boolean
}

/** Writes the server's configuration into a file. @see contracts/control-plane.md §9 [D716] */
export async function pull(options: PullOptions, io: CommandIo): Promise<void> {
  const api = new ServerApi(options, io)
  const file = readConfigFileIfAny(options.file)
  const answer = await api.get<Configuration>('/v2/config')
  const { document, files } = inFiles(answer.document, file?.document ?? {}, path.dirname(options.file))
  const inForm = { ...answer, document }
  const text = file === undefined ? newFileText(document) : await textOver(file, inForm, api, io)
  if (text !== file?.text) writeFile(options.file, text)
  const written = writeCode(path.dirname(options.file), files)
  if (options.json) {
    io.stdout.write(`${json(answer)}\n`)
    return
  }
  const paint = paintFor(io.stdout, io.env)
  const whose = `${api.url} at revision ${answer.revision}`
  if (text === file?.text && written.length === 0) {
    io.stdout.write(`${paint('green', 'unchanged')}  ${options.file} matches ${whose}\n`)
    return
  }
  if (text === file?.text)
    io.stdout.write(`${paint('green', 'unchanged')}  ${options.file}, but not its code files, from ${whose}\n`)
  else io.stdout.write(`${paint('green', 'written')}  ${options.file}, from ${whose}\n`)
  for (const name of written) io.stdout.write(`${paint('green', 'written')}  ${oneLine(name)}\n`)
  const masks = JSON.stringify(parseConfigFile(options.file, text).document).split(MASK).length - 1
  if (masks > 0) io.stdout.write(`${counted(masks, 'secret')} shown as "${MASK}": the saved value is kept.\n`)
}

/** Members that the file omits stay omitted if the server's value equals what a plan would use. */
async function textOver(file: ConfigFile, answer: Configuration, api: ServerApi, { env }: CommandIo): Promise<string> {
  const { document } = withCode(filled(file.document, env, MASK).document, path.dirname(file.name))
  const plan = await api.post<ConfigurationPlan>('/v2/config/plan', { document })
  const isOfTheSame = plan.revision === answer.revision
  const pulled = isOfTheSame ? withoutLeftOut(answer.document, file.document, plan) : answer.document
  return mergedFileText(file, withStated(pulled, file.document), env)
}

/** Writes the files that differ. @returns the names of the written files. */
function writeCode(folder: string, files: CodeInFiles['files']): string[] {
  const written: string[] = []
  for (const [name, file] of files) {
    const place = path.resolve(folder, name)
    const before = textIn(place)
    if (before !== undefined && file.isIn(before)) continue
    writeFile(place, file.text, { makesFolder: true })
    written.push(name)
  }
  return written
}

/** Undefined if there is none, or none that can be read: writing it then says why. */
function textIn(place: string): string | undefined {
  try {
    return readFileSync(place, 'utf8')
  } catch {
    return undefined
  }
}
