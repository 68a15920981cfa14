import { isJsonObject, type JsonValue, type StoredEvent } from '@millrace/protocol'
import { parse } from 'bowser'

/** What a user agent names. A member is missing where it names nothing. */
export interface UserAgentFacts {
  readonly browser?: string
  readonly browserVersion?: string
  readonly os?: string
  readonly osVersion?: string
  readonly manufacturer?: string
  readonly model?: string
}

const NOTHING: UserAgentFacts = {}

/** User agents of browsers have 80 to 300 characters; clients may send 100 KB, so the rest is cut. */
const MAX_CHARACTERS = 1_000

/** Parsing takes about 70 µs, and few user agents send most events. Full, the cache starts again: at most 2 MB. */
const MAX_KNOWN = 1_000
const known = new Map<string, UserAgentFacts>()

/** What `context.userAgent` of an event names. */
export function agentOf({ context }: StoredEvent): UserAgentFacts {
  return userAgentFacts(isJsonObject(context) ? context['userAgent'] : undefined)
}

/** Browser, operating system and device that a user agent names. */
export function userAgentFacts(userAgent: JsonValue | undefined): UserAgentFacts {
  if (typeof userAgent !== 'string' || userAgent === '') return NOTHING
  // A cut text may keep the long one in memory, so it is not a key of the cache.
  if (userAgent.length > MAX_CHARACTERS) return parsed(userAgent.slice(0, MAX_CHARACTERS))
  const found = known.get(userAgent)
  if (found !== undefined) return found
  if (known.size >= MAX_KNOWN) known.clear()
  const facts = parsed(userAgent)
  known.set(userAgent, facts)
  return facts
}

function parsed(userAgent: string): UserAgentFacts {
  const { browser, os, platform } = parse(userAgent)
  return Object.freeze({
    ...named('browser', browser.name),
    ...named('browserVersion', browser.version),
    ...named('os', os.name),
    // Windows says `NT 10.0`, and means 10.
    ...named('osVersion', os.name === 'Windows' ? (os.versionName ?? os.version) : os.version),
    ...named('manufacturer', platform.vendor),
    ...named('model', platform.model),
  })
}

function named(name: keyof UserAgentFacts, value: string | undefined): UserAgentFacts {
  return value === undefined || value === '' ? NOTHING : { [name]: value }
}
