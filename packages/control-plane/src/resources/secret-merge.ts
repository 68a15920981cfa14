import { isJsonObject, type JsonObject, type JsonValue, ownMember } from '@millrace/protocol'
import { MASK } from '../configuration/document-diff.ts'
import type { DestinationTypeDefinition, DestinationTypes } from './destination-types.ts'

export interface MergedSecrets {
  readonly config: JsonObject
  /** JSON pointers of masks that stand for nothing. */
  readonly masksWithoutValue: readonly string[]
  readonly warning: string | undefined
}

/**
 * The config to save when `written` comes in over `saved`. Masks take the saved values, unless the requests would then go
 * to another origin: the saved secrets must not follow there, or whoever may edit an address could read them.
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
  // A place of a saved secret that has no value in the new config shows that a secret was left behind.
  const { masksWithoutValue } = types.unmaskConfig(definition, types.maskConfig(definition, saved), config)
  const warning = masksWithoutValue.length === 0 ? undefined : SECRETS_REMOVED
  return { config, masksWithoutValue: [], warning }
}

const SECRETS_REMOVED = 'The saved secrets were removed because the host has changed'

function hasOtherHost({ config }: DestinationTypeDefinition, written: JsonObject, saved: JsonObject): boolean {
  return config.hostKeys.some((key) => {
    if (key.includes(LIST)) return hasOtherHostInList(key, config, written, saved)
    // An address that is itself a secret comes back as a mask where it is unchanged.
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

/** Of an address its origin; of anything else, such as a region, the text itself. */
function originOf(value: JsonValue | undefined): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? ''
  const origin = URL.parse(value)?.origin
  return origin === undefined || origin === 'null' ? value : origin
}
