import type { JsonObject } from '@millrace/protocol'
import type { DestinationTypeDefinition, DestinationTypes } from './destination-types.ts'

export interface MergedSecrets {
  readonly config: JsonObject
  /** JSON pointers of masks without a saved value. */
  readonly masksWithoutValue: readonly string[]
  readonly warning: string | undefined
}

/**
 * The config to save when `written` replaces `saved`. Masks take the saved values, unless secrets could then reach
 * another host: a user who may edit the address could otherwise read the saved secrets.
 *
 * @see contracts/control-plane.md §6 [D711]
 */
export function mergeSecrets(
  types: Pick<DestinationTypes, 'maskConfig' | 'unmaskConfig' | 'withoutMasks'>,
  definition: DestinationTypeDefinition,
  written: JsonObject,
  saved: JsonObject | undefined,
): MergedSecrets {
  const { hasOtherHost, ...unmasked } = types.unmaskConfig(definition, written, saved)
  if (saved === undefined || !hasOtherHost) return { ...unmasked, warning: undefined }
  const config = types.withoutMasks(definition, written)
  // A saved secret without a value in the new config means that a secret was removed.
  const { masksWithoutValue } = types.unmaskConfig(definition, types.maskConfig(definition, saved), config)
  const warning = masksWithoutValue.length === 0 ? undefined : SECRETS_REMOVED
  return { config, masksWithoutValue: [], warning }
}

const SECRETS_REMOVED = 'The saved secrets were removed because they could reach another host'
