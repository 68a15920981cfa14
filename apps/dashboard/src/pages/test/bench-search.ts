import { oneOf, type SearchValues, someOf, text } from '../../shell/search-values.ts'

/**
 * The inputs of a run, except a message typed here and whether to send: links contain no payloads, and sending is off
 * at each visit (contracts/dashboard.md §7 [U10]).
 */
export const benchSearch = {
  destination: text,
  source: text,
  /** messageId of the event with the message. */
  event: text,
  /** Id of the dead letter with the message. */
  dead: text,
  /** EventID of the model whose sample is the message. */
  sample: text,
  /** `none` for neither. */
  stages: someOf('user', 'dest', 'none'),
  /** Default: on for a disabled target. */
  force: oneOf('0', '1'),
}

export type BenchSearch = SearchValues<typeof benchSearch>
