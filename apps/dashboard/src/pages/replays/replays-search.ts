import { EVENT_TYPES } from '@millrace/protocol/event'
import { type Reader, someOf, text, time, wholeNumber } from '../../shell/search-values.ts'

/** Maximum of source ids, or destination ids, in a link. */
export const MAX_IDS = 50
const ids: Reader<readonly string[]> = (given) => {
  const list = given.split(',')
  return list.length <= MAX_IDS && list.every((id) => /^\w{1,64}$/.test(id)) ? list : undefined
}

/** Default rate of the server. @see contracts/delivery.md §7 [D621] */
export const STANDARD_RATE = 100
export const MAX_RATE = 10_000

/** The inputs of a replay: users can share the link before they start it. */
export const newReplaySearch = {
  sources: ids,
  destinations: ids,
  from: time,
  to: time,
  types: someOf(...EVENT_TYPES),
  name: text,
  user: text,
  rate: wholeNumber(1, MAX_RATE),
}
