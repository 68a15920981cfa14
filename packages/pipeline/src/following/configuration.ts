import type { LaneSettings, Span } from '@millrace/delivery'
import type { LogReader } from '@millrace/log'
import type { ConnectionRules, ConsentRequirement, JsonObject } from '@millrace/protocol'
import type { TransformationCode } from '@millrace/transformations'

/** The parts of a configuration revision that the pipeline needs; the control plane's snapshot has this type. */
export interface Configuration {
  /** Grows with every change. */
  readonly revision: number
  readonly sources: ReadonlyMap<string, ConfiguredSource>
  readonly destinations: ReadonlyMap<string, ConfiguredDestination>
  readonly connections: ReadonlyMap<string, ConfiguredConnection>
}

/** A configuration, and the places in the log from which it governs. */
export interface ConfigurationChange {
  readonly configuration: Configuration
  /** By partition: the ends of the log when the configuration changed. */
  readonly ends: readonly number[]
  /** The stored spans, if another process writes them: they count instead of the ends. */
  readonly spans?: readonly Span[] | undefined
}

export interface ConfiguredSource {
  readonly id: string
  readonly name: string
  readonly type: string
  /** The partition of the log that its events lie in. */
  readonly partition: number
  readonly config?: { readonly withoutConsent?: 'hold_back' | undefined; readonly orderShards?: number }
}

/** The partitions that hold events of a source, the first one first; then those of its backfills, if they are kept apart. */
export function partitionsOf(
  { partition, config }: Pick<ConfiguredSource, 'partition' | 'config'>,
  { partitions, homes }: Pick<LogReader, 'partitions' | 'homes'>,
): number[] {
  const count = Math.min(config?.orderShards ?? 1, homes)
  const live = Array.from({ length: count }, (_, shard) => (partition + shard) % homes)
  return homes === partitions ? live : [...live, ...live.map((home) => home + homes)]
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
  /** Undefined: consent does not matter. */
  readonly consent?: ConsentRequirement | undefined
  /** In order; the same list as long as nothing of it changes. */
  readonly transformations: readonly TransformationCode[]
  /** Revision of the last change. */
  readonly revision: number
}

export interface ConfiguredConnection {
  readonly id: string
  readonly sourceId: string
  readonly destinationId: string
  readonly isEnabled: boolean
  /** Undefined: every event goes. The same object as long as they do not change. */
  readonly rules?: ConnectionRules | undefined
}
