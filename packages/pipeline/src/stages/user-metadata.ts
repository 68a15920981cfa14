import type { JsonObject } from '@millrace/protocol'

/** A source as user code is told of it. */
export interface MetadataSource {
  readonly id: string
  readonly name: string
  readonly type: string
  /** `cordova`, `web` or `cloud`. */
  readonly class: string
}

/**
 * What `metadata(event)` gives to user code beside messageId and jobId, which are of the event.
 *
 * @param source absent where no source is involved, as in the test of one destination.
 * @see contracts/transformations.md §1
 */
export function userMetadata(
  destination: { readonly id: string; readonly name: string; readonly type: string; readonly workspaceId: string },
  source: MetadataSource | undefined,
): JsonObject {
  const ofSource =
    source === undefined
      ? {}
      : {
          sourceId: source.id,
          sourceName: source.name,
          sourceType: source.type,
          sourceCategory: source.class,
          sourceDefinitionId: source.type,
        }
  return {
    ...ofSource,
    workspaceId: destination.workspaceId,
    destinationId: destination.id,
    destinationName: destination.name,
    destinationType: destination.type,
  }
}
