import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol'
import type { DestinationTypeDefinition, DestinationTypes } from './destination-types.ts'
import { MASK } from './document-diff.ts'

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
  types: Pick<DestinationTypes, 'maskConfig' | 'unmaskConfig'>,
  definition: DestinationTypeDefinition,
  written: JsonObject,
  saved: JsonObject | undefined,
): MergedSecrets {
  if (saved === undefined || !hasOtherHost(definition, written, saved)) {
    return { ...types.unmaskConfig(definition, written, saved), warning: undefined }
  }
  const config = withoutMasks(types, definition, written)
  // A place of a saved secret that has no value in the new config shows that a secret was left behind.
  const { masksWithoutValue } = types.unmaskConfig(definition, types.maskConfig(definition, saved), config)
  const warning = masksWithoutValue.length === 0 ? undefined : SECRETS_REMOVED
  return { config, masksWithoutValue: [], warning }
}

const SECRETS_REMOVED = 'The saved secrets were removed because the host has changed'

function hasOtherHost({ config }: DestinationTypeDefinition, written: JsonObject, saved: JsonObject): boolean {
  return config.hostKeys.some((key) => {
    // An address that is itself a secret comes back as a mask where it is unchanged.
    if (written[key] === MASK && config.secretKeys.includes(key)) return false
    return originOf(written[key]) !== originOf(saved[key])
  })
}

/** Of an address its origin; of anything else, such as a region, the text itself. */
function originOf(value: JsonValue | undefined): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? ''
  const origin = URL.parse(value)?.origin
  return origin === undefined || origin === 'null' ? value : origin
}

/** Only the destination types know where a mask stands for a secret, so they fill in a marker that is then removed. */
function withoutMasks(
  types: Pick<DestinationTypes, 'unmaskConfig'>,
  definition: DestinationTypeDefinition,
  written: JsonObject,
): JsonObject {
  const withMarkers = mapTexts(written, (text) =>
    text === MASK ? MARKER : text.replace(`:${MASK}@`, `:${MARKER}@`),
  ) as JsonObject
  const { config } = types.unmaskConfig(definition, written, withMarkers)
  return withoutMarkers(config) as JsonObject
}

/** No text of a client is the same: it holds a character that JSON.parse can give but no header or address can carry. */
const MARKER = '\u0000removed secret\u0000'

function mapTexts(value: JsonValue, map: (text: string) => string): JsonValue {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapTexts(item, map)]))
}

/** Without members that are a marker, without list entries that have one, and without the password that is one. */
function withoutMarkers(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.replace(`:${MARKER}@`, '@')
  if (Array.isArray(value)) {
    return value.filter((item) => !(isJsonObject(item) && Object.values(item).includes(MARKER))).map(withoutMarkers)
  }
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== MARKER)
      .map(([name, item]) => [name, withoutMarkers(item)]),
  )
}
