import { sortBy, text, wholeNumber } from '../../shell/search-values.ts'

export const codeListSearch = { q: text, sort: sortBy('name', 'usedBy', 'errors', 'state') }

export const codeSearch = {
  /** The compared versions. */
  version: text,
  against: text,
  /** messageId of the event, or id of the dead letter, that tests the code. */
  event: text,
  dead: text,
  /** EventID of the model whose sample tests the code. */
  sample: text,
  /** Cursor position, 1-based. */
  line: wholeNumber(1, 1_000_000),
  column: wholeNumber(1, 1_000_000),
}
