import {
  type DestinationModule,
  Masking,
  maskedRequestObject,
  type Override,
  secretValues,
} from '@millrace/destinations'
import type { JsonObject } from '@millrace/protocol'
import type { DestinationTest, StageReport } from '../destination-test.ts'

/**
 * What masks all that is returned of one destination.
 *
 * @param savedConfig of the destination, whose secrets are never shown.
 * @param masksSupplied whether those that the caller gave are masked, too.
 * @see contracts/test-api.md §9 [D227, D228]
 */
export function maskingOf(...given: Parameters<typeof secretsInUse>): Masking {
  return new Masking(secretsInUse(...given))
}

/** The secrets that `maskingOf` masks. */
export function secretsInUse(
  { definition }: DestinationModule,
  savedConfig: JsonObject,
  { config, suppliedSecrets }: Override,
  { usedCredentials, derivedSecrets }: Pick<DestinationTest, 'usedCredentials' | 'derivedSecrets'>,
  masksSupplied: boolean,
): ReadonlySet<string> {
  const inUse = secretValues(definition, config)
  const secrets = new Set([...secretValues(definition, savedConfig), ...inUse, ...usedCredentials])
  // The caller knows them, and what is made of nothing else: the request shown must be the one made.
  const shown = masksSupplied ? [] : suppliedSecrets
  const isAllSupplied = shown.length > 0 && inUse.every((value) => shown.includes(value))
  if (!isAllSupplied) for (const derived of derivedSecrets) secrets.add(derived)
  for (const supplied of shown) secrets.delete(supplied)
  return secrets
}

/** The element of `data`. @see contracts/test-api.md §6 */
export function shownReport({ user, dest, response, statuses }: StageReport, masking: Masking): JsonObject {
  return {
    ...(user === undefined ? {} : { user_transformed_payload: masking.value(user) }),
    ...(dest === undefined
      ? {}
      : {
          dest_transformed_payload:
            'error' in dest ? masking.value(dest) : dest.map((each) => maskedRequestObject(each, masking)),
        }),
    ...(response === undefined ? {} : { destination_response: masking.value(response) }),
    ...(statuses === undefined ? {} : { destination_response_status: statuses }),
  }
}
