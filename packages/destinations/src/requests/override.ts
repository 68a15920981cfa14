import { type JsonObject, setMember } from '@millrace/protocol'
import { hasOtherHost } from '../config/other-host.ts'
import { MASK, mapPlaces, secretValues, withoutSecrets } from '../config/secrets.ts'
import type { DestinationModule } from '../definition.ts'

/** A saved config with other values for one run. */
export interface Override {
  readonly config: JsonObject
  /** Secrets that were given with it: whoever gave them knows them. */
  readonly suppliedSecrets: readonly string[]
  /** What became of saved secrets where requests may go elsewhere than the saved config says; undefined: nothing changes. */
  readonly secretsElsewhere: 'withheld' | 'used' | undefined
  /** Names that the type does not know; they have no effect. */
  readonly unknownKeys: readonly string[]
}

/**
 * Replaces variables of a saved config by those of `given`, for one run. A mask stands for the saved value.
 *
 * @param mayCarry whether saved secrets may go where the override points; if not, they count as not configured there.
 * @see contracts/test-api.md §9 [D229, D230, D236]
 */
export function overriddenConfig(
  module: DestinationModule,
  saved: JsonObject,
  given: JsonObject,
  mayCarry: boolean,
): Override {
  const { definition } = module
  const taken: JsonObject = {}
  const unknownKeys: string[] = []
  const variables = new Set([...definition.defaultConfig, ...definition.config.extraConfig])
  for (const [name, value] of Object.entries(given)) {
    if (variables.has(name)) setMember(taken, name, value)
    else unknownKeys.push(name)
  }
  const suppliedSecrets = secretValues(definition, taken).filter((value) => value !== MASK)
  const carrying = unmasked(module, saved, { ...saved, ...taken }, true)
  const told = { suppliedSecrets, unknownKeys }
  if (!hasOtherHost(definition, carrying, saved)) return { config: carrying, ...told, secretsElsewhere: undefined }
  const savedSecrets = new Set(secretValues(definition, saved))
  const areCarried = secretValues(definition, carrying).some(
    (value) => savedSecrets.has(value) && !suppliedSecrets.includes(value),
  )
  if (mayCarry) return { config: carrying, ...told, secretsElsewhere: areCarried ? 'used' : undefined }
  const config = unmasked(module, saved, { ...withoutSecrets(definition, saved), ...taken }, false)
  return { config, ...told, secretsElsewhere: areCarried ? 'withheld' : undefined }
}

/** With saved values in place of masks; what stands for nothing, or for a secret that is withheld, is left out. */
function unmasked(
  { definition }: DestinationModule,
  saved: JsonObject,
  config: JsonObject,
  keepsSecrets: boolean,
): JsonObject {
  const savedPlaces = new Map<string, { readonly value: string; readonly isSecret: boolean }>()
  mapPlaces(definition, saved, ({ key, value, isSecret }) => {
    savedPlaces.set(key, { value, isSecret })
    return value
  })
  return mapPlaces(definition, config, ({ key, value, isSecret }) => {
    if (value !== MASK) return value
    const place = savedPlaces.get(key)
    if (place === undefined) return undefined
    // One that the override calls no secret would be treated as none: sent to any address, and shown.
    return place.isSecret && !(keepsSecrets && isSecret) ? undefined : place.value
  })
}
