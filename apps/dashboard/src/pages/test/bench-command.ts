import type { StageFlags } from '../../api/test-api.ts'
import { shellQuoted } from '../../components/curl-text.ts'
import type { BenchTarget } from './bench-target.ts'

interface BenchRunWritten {
  readonly target: Pick<BenchTarget, 'kind' | 'id'>
  readonly stage: StageFlags
  readonly force: boolean
  /** As typed, possibly invalid JSON. */
  readonly message: string
}

/** The command line for this run. */
export function benchCommand({ target, stage, force, message }: BenchRunWritten): string {
  const words = [
    ...(stage.user_transform ? ['user'] : []),
    ...(stage.dest_transform ? ['dest'] : []),
    ...(stage.send_to_destination ? ['send'] : []),
  ]
  const test = [`millrace test-${target.kind} ${shellQuoted(target.id)} --stage ${words.join(',')}`]
  if (force) test.push('--force')
  return `echo ${shellQuoted(onOneLine(message))} |\n  ${test.join(' ')}`
}

function onOneLine(message: string): string {
  try {
    return JSON.stringify(JSON.parse(message))
  } catch {
    return message
  }
}
