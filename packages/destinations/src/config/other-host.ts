import { type JsonObject, type JsonValue, ownMember } from '@millrace/protocol'
import type { DestinationDefinition } from '../definition.ts'
import { MASK, valuesAt } from './secrets.ts'

/**
 * Whether `written` lets secrets reach a host that `saved` does not: by the address of requests, or by the list of hosts that may
 * receive secrets. Saved configs and overrides share this judgement: who may edit a config must not read its secrets.
 *
 * @see contracts/control-plane.md §6 [D711], test-api.md §9 [D230]
 */
export function hasOtherHost(definition: DestinationDefinition, written: JsonObject, saved: JsonObject): boolean {
  const { hostKeys, secretKeys } = definition.config
  const hasMoved = hostKeys.some((key) => {
    // An address in a list is another host if no saved element has its origin.
    const known = new Set(valuesAt(saved, key).map(originOf))
    return addressesAt(written, key).some((value) => {
      // An unchanged address that is a secret is sent as a mask.
      return !(value === MASK && secretKeys.includes(key)) && !known.has(originOf(value))
    })
  })
  if (hasMoved) return true
  const trusted = trustedHosts(definition, saved)
  return trustedHosts(definition, written).some((host) => !trusted.includes(host))
}

/** Further hosts, in lower case, to which a config may send its secrets when an event names such an address. */
export function trustedHosts({ config }: DestinationDefinition, values: JsonObject): string[] {
  const lists = (config.trustedHostKeys ?? []).map((key) => ownMember(values, key))
  const hosts = lists.filter((list) => Array.isArray(list)).flat()
  return hosts.filter((host) => typeof host === 'string').map((host) => host.toLowerCase())
}

/** The values at a host key; elements of a list that have none are left out. */
function addressesAt(config: JsonObject, key: string): (JsonValue | undefined)[] {
  const values = valuesAt(config, key)
  return key.includes('.*.') ? values.filter((value) => value !== undefined && value !== null) : values
}

/** The origin of an address; any other value, such as a region, as it is. */
function originOf(value: JsonValue | undefined): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? ''
  const origin = URL.parse(value)?.origin
  return origin === undefined || origin === 'null' ? value : origin
}
