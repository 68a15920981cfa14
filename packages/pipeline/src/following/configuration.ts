import type { LaneSettings } from '@millrace/delivery'
import type { JsonObject } from '@millrace/protocol'
import type { TransformationCode } from '@millrace/transformations'

/** The parts of a configuration revision that the pipeline needs; the control plane's snapshot has this type. */
export interface Configuration {
  /** Grows with every change. */
  readonly revision: number
  readonly sources: ReadonlyMap<string, ConfiguredSource>
  readonly destinations: ReadonlyMap<string, ConfiguredDestination>
  readonly connections: ReadonlyMap<string, ConfiguredConnection>
}

export interface ConfiguredSource {
  readonly id: string
  readonly name: string
  readonly type: string
}

export interface ConfiguredDestination {
  readonly id: string
  readonly name: string
  readonly workspaceId: string
  /** Name of its definition, such as `WEBHOOK`. */
  readonly type: string
  readonly isEnabled: boolean
  /** Secrets are in clear text. */
  readonly config: JsonObject
  readonly delivery: Omit<LaneSettings, 'revision' | 'batchEvents'> & {
    readonly onTransformationError: 'dead_letter' | 'pass_through'
  }
  /** In execution order; the same list object until it changes. */
  readonly transformations: readonly TransformationCode[]
  /** Revision of the last change. */
  readonly revision: number
}

export interface ConfiguredConnection {
  readonly id: string
  readonly sourceId: string
  readonly destinationId: string
  readonly isEnabled: boolean
}
