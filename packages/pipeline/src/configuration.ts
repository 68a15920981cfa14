import type { LaneSettings } from '@millrace/delivery'
import type { JsonObject } from '@millrace/protocol'
import type { TransformationCode } from '@millrace/transformations'

/** What the pipeline needs of the configuration as of one revision; the control plane's snapshot fits. */
export interface Configuration {
  readonly sources: ReadonlyMap<string, ConfiguredSource>
  readonly destinations: ReadonlyMap<string, ConfiguredDestination>
  readonly connections: ReadonlyMap<string, ConfiguredConnection>
}

export interface ConfiguredSource {
  readonly id: string
  readonly type: string
}

export interface ConfiguredDestination {
  readonly id: string
  readonly name: string
  readonly workspaceId: string
  /** Of its definition, such as `WEBHOOK`. */
  readonly type: string
  readonly isEnabled: boolean
  /** With its secrets in clear. */
  readonly config: JsonObject
  /** Published versions, in order. */
  readonly transformations: readonly TransformationCode[]
  readonly delivery: Omit<LaneSettings, 'revision'>
  /** Of the last change. */
  readonly revision: number
}

export interface ConfiguredConnection {
  readonly id: string
  readonly sourceId: string
  readonly destinationId: string
  readonly isEnabled: boolean
}
