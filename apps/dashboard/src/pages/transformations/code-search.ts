import { sortBy, text, wholeNumber } from '../../shell/search-values.ts'

export const codeListSearch = { q: text, sort: sortBy('name', 'usedBy', 'errors', 'state') }

export const codeSearch = {
  /** The versions that are compared. */
  version: text,
  against: text,
  /** messageId of the event, or id of the dead letter, that the code is tried with. */
  event: text,
  dead: text,
  /** EventID of the model whose sample it is tried with. */
  sample: text,
  /** Where the cursor goes, from 1. */
  line: wholeNumber(1, 1_000_000),
  column: wholeNumber(1, 1_000_000),
}
