import { utf8Length } from '../text/utf8.ts'
import { type Call, isEvent, isPut } from './call.ts'

const MAX_CALLS = 1_000
const MAX_BYTES = 512 * 1024

/** Calls held until the client is ready and allowed, in their order. Bound: 1,000 calls and 512 KiB of JSON. */
export function newDeferredCalls() {
  let held: { readonly call: Call; readonly bytes: number }[] = []

  const leading = () => {
    const first = held.findIndex((each) => isEvent(each.call))
    return first < 0 ? held.length : first
  }
  const take = (count: number) => held.splice(0, count).map((each) => each.call)
  const keep = (isKept: (call: Call) => boolean) => {
    held = held.filter((each) => isKept(each.call))
  }

  return {
    /** @returns false when it does not fit: the new call is the one that is lost. */
    add(call: Call): boolean {
      const bytes = utf8Length(JSON.stringify(call))
      const isFull = held.length >= MAX_CALLS || held.reduce((sum, each) => sum + each.bytes, bytes) > MAX_BYTES
      if (!isFull) held.push({ call, bytes })
      return !isFull
    },

    /** Puts these behind the leading put… and reset calls: they must reach the first event. Not bounded: at most two. */
    addAfterLeading(calls: readonly Call[]) {
      held.splice(leading(), 0, ...calls.map((call) => ({ call, bytes: 0 })))
    },

    /** The calls before the first event. */
    takeLeading: () => take(leading()),

    takeAll: () => take(held.length),

    discardEvents: () => keep((call) => !isEvent(call)),

    /** What reset(true) undoes: identify, alias and put… calls. */
    discardIdentifiers: () => keep((call) => !isPut(call) && call.kind !== 'identify' && call.kind !== 'alias'),
  }
}
