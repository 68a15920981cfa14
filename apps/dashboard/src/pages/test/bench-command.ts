import type { JsonObject } from '@millrace/protocol/json'
import { commandLine, shellQuoted } from '@millrace/wording'
import type { StageFlags } from '../../api/test-api.ts'
import type { BenchTarget } from './bench-target.ts'

interface BenchRunWritten {
  readonly target: Pick<BenchTarget, 'kind' | 'id'>
  readonly stage: StageFlags
  readonly force: boolean
  readonly message: JsonObject
  /** Address of the server. */
  readonly origin: string
}

/** The command line for this run. */
export function benchCommand({ target, stage, force, message, origin }: BenchRunWritten): string {
  const words = [
    ...(stage.user_transform ? ['user'] : []),
    ...(stage.dest_transform ? ['dest'] : []),
    ...(stage.send_to_destination ? ['send'] : []),
  ]
  const options = ['--stage', words.join(','), ...(force ? ['--force'] : []), '--url', origin]
  // Some shells take backslashes of echo for escapes.
  const print = `printf %s ${shellQuoted(JSON.stringify(message))}`
  return `${print} |\n  ${commandLine(`test-${target.kind}`, target.id, ...options)}`
}
