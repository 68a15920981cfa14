import { type JsonObject, type JsonValue, type StoredEvent, setMember } from '@millrace/protocol'
import { configNames } from '../../config/config-names.ts'
import { referrerOf, utmParameters } from '../../event/campaign.ts'
import { userTraits } from '../../event/event-facts.ts'

/*
 * Amplitude changes user properties by operations. It takes them in `$identify` events only, and only without plain
 * properties beside them.
 *
 * @see https://amplitude.com/docs/apis/analytics/identify
 */

type Operation = '$set' | '$setOnce' | '$add' | '$append' | '$prepend' | '$unset'
type Operations = Partial<Record<Operation, JsonObject>>

/** The variable that lists the traits of an operation. The first one that lists a trait counts. */
const LISTS: readonly [variable: string, operation: Operation][] = [
  ['setOnceTraits', '$setOnce'],
  ['addTraits', '$add'],
  ['appendTraits', '$append'],
  ['prependTraits', '$prepend'],
  ['unsetTraits', '$unset'],
]

/** Of an identify: the plain traits, or operations where the configuration or the campaign asks for one. @throws Error */
export function identifiedProperties(event: StoredEvent, config: JsonObject): JsonObject {
  const traits = userTraits(event)
  const operations: Operations = attributionOf(event, config) ?? {}
  const listed = listedTraits(config)
  for (const [name, value] of Object.entries(traits)) apply(operations, listed.get(name) ?? '$set', name, value)
  const asked = Object.keys(operations).filter((operation) => operation !== '$set')
  return asked.length === 0 ? traits : { ...operations }
}

/** Of other events: the traits without those of an operation, which a plain value would overwrite. */
export function plainProperties(event: StoredEvent, config: JsonObject): JsonObject {
  const traits = userTraits(event)
  const listed = listedTraits(config)
  if (listed.size === 0) return traits
  const plain: JsonObject = {}
  for (const [name, value] of Object.entries(traits)) if (!listed.has(name)) setMember(plain, name, value)
  return plain
}

/** Campaign and referrer, as Amplitude's browser library sets them; undefined if the event has none. */
export function attributionOf(event: StoredEvent, config: JsonObject): Operations | undefined {
  if (config['attribution'] !== true) return undefined
  const found = utmParameters(event)
  const referrer = referrerOf(event)
  if (referrer !== undefined && !referrer.isOwnSite) {
    found['referrer'] = referrer.url
    found['referring_domain'] = referrer.domain
  }
  const names = Object.keys(found)
  if (names.length === 0) return undefined
  return { $set: found, $setOnce: Object.fromEntries(names.map((name) => [`initial_${name}`, found[name]!])) }
}

function listedTraits(config: JsonObject): Map<string, Operation> {
  const listed = new Map<string, Operation>()
  for (const [variable, operation] of LISTS) {
    for (const name of configNames(config[variable])) if (!listed.has(name)) listed.set(name, operation)
  }
  return listed
}

function apply(operations: Operations, listed: Operation, name: string, value: JsonValue): void {
  if (listed === '$add' && typeof value !== 'number') {
    throw new Error(`traits.${name} must be a number, because addTraits lists it`)
  }
  const operation = listed === '$unset' && value !== null ? '$set' : listed
  operations[operation] ??= {}
  setMember(operations[operation], name, operation === '$unset' ? '-' : value)
}
