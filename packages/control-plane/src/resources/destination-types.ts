import type { JsonObject } from '@millrace/protocol'

export interface DestinationTypeDefinition {
  readonly displayName: string
  readonly config: {
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
 * The facts about destination types that the control plane needs.
 *
 * @see contracts/destinations.md §2, §3
 */
export interface DestinationTypes {
  /** By type name, such as `WEBHOOK`. */
  find(name: string): DestinationType | undefined
  /** Names of all types, in alphabetical order. */
  names(): readonly string[]
  /** Every place where a config violates its schema. */
  faultsIn(type: DestinationType, config: JsonObject): ConfigIssue[]
  /** A copy of a config for readers: every secret is `********`. */
  maskConfig(definition: DestinationTypeDefinition, config: JsonObject): JsonObject
  /**
   * The config to save when `written` replaces `saved`: masks take the saved values. The result lists masks without a
   * saved value, as JSON pointers, and says whether saved secrets could reach another host than so far.
   */
  unmaskConfig(
    definition: DestinationTypeDefinition,
    written: JsonObject,
    saved: JsonObject | undefined,
  ): { config: JsonObject; masksWithoutValue: string[]; hasOtherHost: boolean }
  /** A copy of a config without masks in the places of secrets. */
  withoutMasks(definition: DestinationTypeDefinition, config: JsonObject): JsonObject
}
