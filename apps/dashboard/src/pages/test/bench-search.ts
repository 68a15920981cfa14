import { oneOf, type SearchValues, someOf, text } from '../../shell/search-values.ts'

/**
 * What a run is made of, but for a message written here and whether it is sent: payloads are in no link, and sending is off
 * on every visit (contracts/dashboard.md §7 [U10]).
 */
export const benchSearch = {
  destination: text,
  source: text,
  /** messageId of the event that the message comes from. */
  event: text,
  /** Id of the dead letter that it comes from. */
  dead: text,
  /** EventID of the model whose sample the message comes from. */
  sample: text,
  /** `none` for neither. */
  stages: someOf('user', 'dest', 'none'),
  /** Left out, it is what the target needs: on for a disabled one. */
  force: oneOf('0', '1'),
}

export type BenchSearch = SearchValues<typeof benchSearch>
