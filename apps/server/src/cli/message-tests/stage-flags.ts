import type { StageFlags } from '@millrace/test-api'
import { usageError } from '../command-io.ts'

const WORDS = ['user', 'dest', 'send'] as const

/**
 * Reads a comma list of stages, such as `user,dest`.
 *
 * @throws CommandError for an unknown word.
 */
export function stageFlags(list: string): StageFlags {
  const words = list.split(',').map((word) => word.trim())
  const unknown = words.find((word) => !WORDS.includes(word as (typeof WORDS)[number]))
  if (unknown !== undefined) throw usageError(`"${unknown}" is not a stage.`, `Stages: ${WORDS.join(', ')}.`)
  return {
    user_transform: words.includes('user'),
    dest_transform: words.includes('dest'),
    send_to_destination: words.includes('send'),
  }
}
