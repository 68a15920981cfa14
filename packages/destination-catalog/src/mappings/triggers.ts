import { createRequire } from 'node:module'
import type { JsonObject } from '@millrace/protocol'

const require = createRequire(import.meta.url)

/** What `parseFql` makes of a trigger. */
type Parsed = { readonly error?: { readonly message: string } }

interface Subscriptions {
  parseFql(text: string): Parsed
  validate(parsed: Parsed, event: JsonObject): boolean
}

/** Triggers of an installation are few, and read from configurations. Full, the cache starts again. */
const MAX_PARSED = 10_000
const parsed = new Map<string, Parsed>()
let subscriptions: Subscriptions | undefined

/** Loaded at the first trigger: pure functions without a dependency that does anything but parse. */
function loaded(): Subscriptions {
  subscriptions ??= require('@segment/destination-subscriptions') as Subscriptions
  return subscriptions
}

function parse(trigger: string): Parsed {
  let found = parsed.get(trigger)
  if (found === undefined) {
    found = loaded().parseFql(trigger)
    if (parsed.size >= MAX_PARSED) parsed.clear()
    parsed.set(trigger, found)
  }
  return found
}

/** Why a trigger cannot be used; undefined if it can. */
export function triggerFault(trigger: string): string | undefined {
  return parse(trigger).error?.message
}

/** Whether a prepared event matches a trigger. @see contracts/destination-catalog.md §7.4 [C43, D540] */
export function matchesTrigger(trigger: string, event: JsonObject): boolean {
  return loaded().validate(parse(trigger), event)
}
