import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol/json'
import { MASK } from '../../api/destinations.ts'
import type { ConfigField } from './config-field.ts'

/**
 * Whether saving would remove saved secrets: a host variable has a new origin, or another host may receive secrets, and a
 * secret still has its saved value.
 *
 * @see contracts/control-plane.md §6 [D711], dashboard.md §9
 */
export function losesSecrets(fields: readonly ConfigField[], saved: JsonObject, written: JsonObject): boolean {
  const changes = fields.some(({ key, isHost, isTrustedHosts }) => {
    if (isTrustedHosts) return hostsOf(written[key]).some((host) => !hostsOf(saved[key]).includes(host))
    return isHost && originOf(saved[key]) !== originOf(written[key])
  })
  return changes && holdsMask(written)
}

function hostsOf(value: JsonValue | undefined): string[] {
  const hosts = Array.isArray(value) ? value : []
  return hosts.filter((host) => typeof host === 'string').map((host) => host.toLowerCase())
}

function originOf(value: JsonValue | undefined): string {
  if (typeof value !== 'string') return ''
  return URL.parse(value)?.origin ?? value
}

function holdsMask(value: JsonValue): boolean {
  if (value === MASK) return true
  if (Array.isArray(value)) return value.some(holdsMask)
  return isJsonObject(value) && Object.values(value).some(holdsMask)
}
