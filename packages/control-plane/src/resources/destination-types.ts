import type { JsonObject } from '@millrace/protocol'

export interface DestinationTypeDefinition {
  readonly displayName: string
  readonly config: {
    /** Members of a config that decide the host of requests. */
    readonly hostKeys: readonly string[]
    readonly secretKeys: readonly string[]
    /** By class: `cordova`, `web`, `cloud`. */
    readonly supportedSourceTypes: readonly string[]
  }
}

export interface DestinationType {
  readonly definition: DestinationTypeDefinition
}

export interface ConfigIssue {
  /** JSON pointer into the config. */
  readonly path: string
  readonly message: string
}

/**
 * What the control plane needs to know of the types of destinations.
 *
 * @see contracts/destinations.md §2, §3
 */
export interface DestinationTypes {
  /** By type name, such as `WEBHOOK`. */
  find(name: string): DestinationType | undefined
  /** Of every type, in the order of the alphabet. */
  names(): readonly string[]
  /** Every place where a config about to be saved breaks its schema. */
  faultsIn(type: DestinationType, config: JsonObject): ConfigIssue[]
  /** A copy of a config as it may be read: every secret is `********`. */
  maskConfig(definition: DestinationTypeDefinition, config: JsonObject): JsonObject
  /**
   * The config to save when `written` comes in over `saved`: masks take the saved values. Those that stand for nothing
   * are told by JSON pointer.
   */
  unmaskConfig(
    definition: DestinationTypeDefinition,
    written: JsonObject,
    saved: JsonObject | undefined,
  ): { config: JsonObject; masksWithoutValue: string[] }
  /** A copy of a config without the masks that stand where a secret may. */
  withoutMasks(definition: DestinationTypeDefinition, config: JsonObject): JsonObject
}
