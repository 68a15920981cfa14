import type { JsonObject } from '@millrace/protocol'

/** One published version of a transformation; what it is made of only the runtime knows. */
export interface UserTransformation {
  readonly transformationId: string
  readonly versionId: string
}

/**
 * What runs user code, each destination's apart from every other's; `Transformations` of @millrace/transformations fits.
 *
 * @see contracts/transformations.md §8
 */
export interface UserCode {
  run(run: UserRun): Promise<UserRunResult>
}

export interface UserRun {
  /** Id of the destination. */
  readonly key: string
  /** In order: the output of one is the input of the next. */
  readonly steps: readonly UserTransformation[]
  readonly events: readonly { readonly event: JsonObject; readonly metadata: JsonObject; readonly jobId?: string }[]
  readonly mode: 'live' | 'test'
  readonly credentials: ReadonlyMap<string, string>
  readonly captureLogs: boolean
  /** At most for all of it; the limit of the runtime holds as well. */
  readonly wallMs?: number
}

export interface UserRunResult {
  /** Parallel to the events. */
  readonly results: readonly UserResult[]
  readonly logs: readonly string[]
  /** Which step logged each line: parallel to the lines. */
  readonly loggedBy: readonly number[]
  /** Values of credentials that the code has read. */
  readonly usedCredentials: readonly string[]
  /** The batch as a whole ended in a fault that one of its events may have caused. */
  readonly trouble?: { readonly kind: string; readonly text: string }
}

/** What user code made of one event. */
export type UserResult =
  /** `sizeBytes`: what they take in memory, about. */
  (
    | { readonly events: readonly JsonObject[]; readonly sizeBytes: number }
    | { readonly dropped: true }
    | { readonly error: string; readonly transformationId: string }
  ) & {
    /** Of a test: what each step made, in order. */
    readonly steps?: readonly UserStep[]
  }

export interface UserStep extends UserTransformation {
  readonly events?: readonly JsonObject[]
  readonly error?: string
}

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
  return {
    ...(source === undefined
      ? {}
      : {
          sourceId: source.id,
          sourceName: source.name,
          sourceType: source.type,
          sourceCategory: source.class,
          sourceDefinitionId: source.type,
        }),
    workspaceId: destination.workspaceId,
    destinationId: destination.id,
    destinationName: destination.name,
    destinationType: destination.type,
  }
}
