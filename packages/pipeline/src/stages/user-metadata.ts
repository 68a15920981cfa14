import type { JsonObject } from '@millrace/protocol'

/** The parts of a source that user code sees. */
export interface MetadataSource {
  readonly id: string
  readonly name: string
  readonly type: string
  /** `cordova`, `web` or `cloud`. */
  readonly class: string
}

/**
 * What `metadata(event)` returns in user code, without messageId and jobId, which belong to the event.
 *
 * @param source undefined if no source is involved, as in the test of one destination.
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
