import { isJsonObject, type JsonObject, type JsonValue, ownMember } from '@millrace/protocol'
import { MASK } from '../configuration/document-diff.ts'
import type { DestinationTypeDefinition, DestinationTypes } from './destination-types.ts'

export interface MergedSecrets {
  readonly config: JsonObject
  /** JSON pointers of masks without a saved value. */
  readonly masksWithoutValue: readonly string[]
  readonly warning: string | undefined
}

/**
 * The config to save when `written` replaces `saved`. Masks take the saved values, unless requests would then go to
 * another origin: a user who may edit the address could otherwise read the saved secrets.
 *
 * @see contracts/control-plane.md §6 [D711]
 */
export function mergeSecrets(
  types: Pick<DestinationTypes, 'maskConfig' | 'unmaskConfig' | 'withoutMasks'>,
  definition: DestinationTypeDefinition,
  written: JsonObject,
  saved: JsonObject | undefined,
): MergedSecrets {
  if (saved === undefined || !hasOtherHost(definition, written, saved)) {
    return { ...types.unmaskConfig(definition, written, saved), warning: undefined }
  }
  const config = types.withoutMasks(definition, written)
  // A saved secret without a value in the new config means that a secret was removed.
  const { masksWithoutValue } = types.unmaskConfig(definition, types.maskConfig(definition, saved), config)
  const warning = masksWithoutValue.length === 0 ? undefined : SECRETS_REMOVED
  return { config, masksWithoutValue: [], warning }
}

const SECRETS_REMOVED = 'The saved secrets were removed because the host has changed'

function hasOtherHost({ config }: DestinationTypeDefinition, written: JsonObject, saved: JsonObject): boolean {
  return config.hostKeys.some((key) => {
    if (key.includes(LIST)) return hasOtherHostInList(key, config, written, saved)
    // An unchanged address that is a secret is sent as a mask.
    if (written[key] === MASK && config.secretKeys.includes(key)) return false
    return originOf(written[key]) !== originOf(saved[key])
  })
}

const LIST = '.*.'

/** An address in a list is another host if no saved element has its origin. */
function hasOtherHostInList(
  key: string,
  { secretKeys }: DestinationTypeDefinition['config'],
  written: JsonObject,
  saved: JsonObject,
): boolean {
  const known = new Set(valuesInList(saved, key).map(originOf))
  return valuesInList(written, key).some((value) => {
    return !(value === MASK && secretKeys.includes(key)) && !known.has(originOf(value))
  })
}

/** The values at a key such as `subscriptions.*.mapping.url` that are there. */
function valuesInList(config: JsonObject, key: string): JsonValue[] {
  const [listKey, elementKey] = key.split(LIST) as [string, string]
  const list = config[listKey]
  if (!Array.isArray(list)) return []
  return list.flatMap((element) => {
    let value: JsonValue | undefined = element
    for (const name of elementKey.split('.')) value = isJsonObject(value) ? ownMember(value, name) : undefined
    return value === undefined || value === null ? [] : [value]
  })
}

/** The origin of an address; any other value, such as a region, as it is. */
function originOf(value: JsonValue | undefined): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? ''
  const origin = URL.parse(value)?.origin
  return origin === undefined || origin === 'null' ? value : origin
}
