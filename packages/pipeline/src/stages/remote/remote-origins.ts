import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol'

/**
 * Tells which origins remote code may reach as configured ones: those that stand in the saved configuration, which may be
 * loopback, and public names of vendors.
 */
export function originsOf(savedConfig: JsonObject): (origin: string) => boolean {
  return (origin) => isVendorOrigin(origin) || holdsOrigin(savedConfig, origin)
}

/** A host that the code names: no address, and nothing of this machine. */
function isVendorOrigin(origin: string): boolean {
  const { protocol, hostname } = new URL(origin)
  return protocol === 'https:' && /[a-z]$/.test(hostname) && hostname.includes('.') && !hostname.endsWith('.localhost')
}

/** Whether a text of the configuration is an address of an origin. */
function holdsOrigin(value: JsonValue, origin: string): boolean {
  if (typeof value === 'string') return value.startsWith(origin) && URL.parse(value)?.origin === origin
  if (Array.isArray(value)) return value.some((each) => holdsOrigin(each, origin))
  return isJsonObject(value) && Object.values(value).some((each) => holdsOrigin(each, origin))
}
