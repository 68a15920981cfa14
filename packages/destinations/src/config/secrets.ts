import { isJsonObject, type JsonObject, type JsonValue, memberPath, ownMember, setMember } from '@millrace/protocol'
import type { DestinationDefinition } from '../definition.ts'
import { mapUrlSecrets, urlSecretValues } from './url-secrets.ts'

/** How a secret looks to whoever reads it; sent back, it keeps the saved value. */
export const MASK = '********'

const PLAIN_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'content-type',
  'content-encoding',
  'user-agent',
])
const SECRET_HEADERS = new Set(['authorization', 'proxy-authorization', 'cookie'])
const SECRET_WORDS = new Set([
  'token',
  'secret',
  'password',
  'passwd',
  'pwd',
  'auth',
  'credential',
  'signature',
  'apikey',
])
const SECRET_PAIRS = new Set(['api-key', 'access-key', 'secret-key', 'private-key'])

/**
 * Whether a header's value is a secret.
 *
 * @param flag the entry's own `secret` member, which overrules the rule.
 * @see contracts/destinations.md §3, the table of steps
 */
export function isSecretHeader(name: string, value: string, flag?: unknown): boolean {
  if (typeof flag === 'boolean') return flag
  const lowerCase = name.trim().toLowerCase()
  if (PLAIN_HEADERS.has(lowerCase)) return false
  if (SECRET_HEADERS.has(lowerCase)) return true
  const words = lowerCase.split(/[-_]/)
  if (words.some((word, i) => SECRET_WORDS.has(word) || SECRET_PAIRS.has(`${word}-${words[i + 1]}`))) return true
  return /^(Basic|Bearer|Token) /.test(value)
}

/** The values in a config that are secret, to be masked wherever they are shown. */
export function secretValues(definition: DestinationDefinition, config: JsonObject): string[] {
  const values = new Set<string>()
  mapPlaces(definition, config, ({ value, isSecret }) => {
    if (isSecret && value !== '') {
      for (const part of credentialsOf(value)) values.add(part)
    }
    return value
  })
  for (const key of definition.config.hostKeys) {
    for (const { value: address } of findVariables(config, key)) {
      if (typeof address === 'string') for (const value of urlSecretValues(address)) values.add(value)
    }
  }
  return [...values]
}

/**
 * The variables of a config that hold a secret, as people find them in a form: `headers.authorization`, `apiKey`, and
 * `webhookUrl (password)` for a part of an address.
 */
export function credentialNames(
  definition: DestinationDefinition,
  config: JsonObject,
): { name: string; value: string }[] {
  const found: { name: string; value: string }[] = []
  mapPlaces(definition, config, ({ key, value, isSecret }) => {
    if (isSecret && value !== '') found.push({ name: key.replace(/#(.+)$/, ' ($1)'), value })
    return value
  })
  return found
}

/** A secret, and the same without its scheme: an answer may repeat either. */
export function credentialsOf(value: string): string[] {
  const credentials = AUTH_SCHEME.exec(value)?.[1]
  return credentials === undefined ? [value] : [value, credentials]
}

const AUTH_SCHEME = /^(?:Basic|Bearer|Token) +(.+)$/

/** A copy of a config as it may be read: every secret is `********`. */
export function maskConfig(definition: DestinationDefinition, config: JsonObject): JsonObject {
  return mapPlaces(definition, config, ({ value, isSecret }) => (isSecret && value !== '' ? MASK : value))
}

/** A copy of a config without its secrets: for when they must not follow it to another host. */
export function withoutSecrets(definition: DestinationDefinition, config: JsonObject): JsonObject {
  return mapPlaces(definition, config, ({ value, isSecret }) => (isSecret ? undefined : value))
}

/** A copy of a config without the masks that stand where a secret may. */
export function withoutMasks(definition: DestinationDefinition, config: JsonObject): JsonObject {
  return mapPlaces(definition, config, ({ value }) => (value === MASK ? undefined : value))
}

/** A place in a config where a secret may stand. */
export interface SecretPlace {
  /** The same for the same place of another config; of a header, it goes by the lower-case name. */
  readonly key: string
  /** JSON pointer. */
  readonly path: string
  readonly value: string
  readonly isSecret: boolean
}

/** A copy of a config in which every place where a secret may stand has the value that `map` gives, or is removed. */
export function mapPlaces(
  definition: DestinationDefinition,
  config: JsonObject,
  map: (place: SecretPlace) => string | undefined,
): JsonObject {
  const copy = structuredClone(config)
  for (const key of definition.config.secretKeys) {
    if (key.endsWith('.to')) mapHeaders(copy, key.slice(0, -'.to'.length), map)
    else mapVariable(copy, key, map)
  }
  for (const key of definition.config.hostKeys) mapAddress(copy, key, map)
  return copy
}

function mapVariable(config: JsonObject, key: string, map: (place: SecretPlace) => string | undefined): void {
  for (const { key: place, holder, name, path, value } of findVariables(config, key)) {
    if (typeof value !== 'string') continue
    const mapped = map({ key: place, path, value, isSecret: true })
    if (mapped === undefined) delete holder[name]
    else holder[name] = mapped
  }
}

/** The values at a key of a definition; one with `.*.` goes through a list. */
export function valuesAt(config: JsonObject, key: string): (JsonValue | undefined)[] {
  return key.includes(LIST) ? findVariables(config, key).map(({ value }) => value) : [ownMember(config, key)]
}

const LIST = '.*.'

interface FoundVariable {
  /** The same for the same variable of another config: elements of lists go by their names, else by their positions. */
  readonly key: string
  readonly holder: JsonObject
  readonly name: string
  readonly path: string
  readonly value: JsonValue | undefined
}

function findVariables(config: JsonObject, key: string): FoundVariable[] {
  const at = key.indexOf(LIST)
  if (at === -1) {
    const found = findVariable(config, key)
    return found === undefined ? [] : [{ key, ...found }]
  }
  const [listKey, elementKey] = [key.slice(0, at), key.slice(at + LIST.length)]
  const list = findVariable(config, listKey)
  if (!Array.isArray(list?.value)) return []
  return list.value.flatMap((element, i) => {
    if (!isJsonObject(element)) return []
    const name = typeof element['name'] === 'string' ? element['name'] : i
    return findVariables(element, elementKey).map((found) => {
      return { ...found, key: `${listKey}.${name}.${found.key}`, path: `${list.path}/${i}${found.path}` }
    })
  })
}

/** Follows a key of a definition, such as `login.password`, to the object that holds the variable. */
function findVariable(config: JsonObject, key: string) {
  const names = key.split('.')
  const name = names.pop()!
  let holder: JsonValue | undefined = config
  for (const outer of names) holder = isJsonObject(holder) ? ownMember(holder, outer) : undefined
  if (!isJsonObject(holder)) return undefined
  return { holder, name, path: `/${key.replaceAll('.', '/')}`, value: ownMember(holder, name) }
}

/** Headers as a list of `{from, to, secret?}` or as an object from name to value. */
function mapHeaders(config: JsonObject, key: string, map: (place: SecretPlace) => string | undefined): void {
  const found = findVariable(config, key)
  if (found === undefined) return
  const { holder, name: variable, path: listPath, value: headers } = found
  if (Array.isArray(headers)) {
    holder[variable] = headers.flatMap((entry, i): JsonValue[] => {
      if (!isJsonObject(entry) || typeof entry['from'] !== 'string' || typeof entry['to'] !== 'string') return [entry]
      const { from, to, secret } = entry as { from: string; to: string; secret?: JsonValue }
      const place = { key: `${key}.${from.toLowerCase()}`, path: `${listPath}/${i}/to` }
      const mapped = map({ ...place, value: to, isSecret: isSecretHeader(from, to, secret) })
      return mapped === undefined ? [] : [{ ...entry, to: mapped }]
    })
  } else if (isJsonObject(headers)) {
    const mappedHeaders: JsonObject = {}
    for (const [name, value] of Object.entries(headers)) {
      if (typeof value !== 'string') {
        setMember(mappedHeaders, name, value)
        continue
      }
      const place = { key: `${key}.${name.toLowerCase()}`, path: memberPath(listPath, name) }
      const mapped = map({ ...place, value, isSecret: isSecretHeader(name, value) })
      if (mapped !== undefined) setMember(mappedHeaders, name, mapped)
    }
    holder[variable] = mappedHeaders
  }
}

/** The user part, and query parameters with a secret, of an address such as `https://user:password@host/in?token=x`. */
function mapAddress(config: JsonObject, key: string, map: (place: SecretPlace) => string | undefined): void {
  for (const { key: place, holder, name, path, value: address } of findVariables(config, key)) {
    if (typeof address !== 'string' || address === MASK) continue
    holder[name] = mapUrlSecrets(address, ({ part, value }) =>
      map({ key: `${place}#${part}`, path, value, isSecret: true }),
    )
  }
}
