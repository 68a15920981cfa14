import type { DocumentError } from '@millrace/control-plane'
import { CommandError } from '../command-io.ts'
import { oneLine } from '../paint.ts'
import type { ConfigFile } from './config-file.ts'

/** Every error with its line and column. */
export function documentErrors(file: ConfigFile, errors: readonly DocumentError[]): CommandError {
  const lines = errors.map(({ path, message }) => `${file.place(path)} ${oneLine(path)}: ${oneLine(message)}`)
  return new CommandError(`${file.name} cannot be applied:`, lines.join('\n'))
}
