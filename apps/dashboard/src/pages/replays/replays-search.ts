import { EVENT_TYPES } from '@millrace/protocol/event'
import { type Reader, someOf, text, time, wholeNumber } from '../../shell/search-values.ts'

/** Of sources, or destinations, that a link names. */
export const MAX_IDS = 50
const ids: Reader<readonly string[]> = (given) => {
  const list = given.split(',')
  return list.length <= MAX_IDS && list.every((id) => /^\w{1,64}$/.test(id)) ? list : undefined
}

/** The rate that the server takes unless another is asked for. @see contracts/delivery.md §7 [D621] */
export const STANDARD_RATE = 100
export const MAX_RATE = 10_000

/** What a replay is to be of: a link to it can be handed on before it is started. */
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
