import type { JsonObject } from '@millrace/protocol'
import type { DestinationDefinition } from './definition.ts'

/** Variables that every type understands (contracts/delivery.md §5). */
const COMMON_CONFIG = ['connectionMode', 'eventFilteringOption', 'whitelistedEvents', 'blacklistedEvents']

/** What sets one type of kind `cloud` apart from the others. */
export interface CloudType {
  readonly id: string
  readonly name: string
  readonly displayName: string
  readonly category: string
  /** `defaultConfig`: names of the variables, in the order of the form. */
  readonly variables: readonly string[]
  readonly extraConfig?: readonly string[]
  readonly secretKeys: readonly string[]
  readonly hostKeys?: readonly string[]
  readonly trustedHostKeys?: readonly string[]
  readonly messageTypes: readonly string[]
  readonly configSchema: JsonObject
  readonly uiConfig: JsonObject
  readonly options?: JsonObject
  readonly createdAt: string
  readonly updatedAt: string
}

/** The definition of a type that is sent HTTP requests by the server, whatever kind of source its events come from. */
export function cloudDefinition(type: CloudType): DestinationDefinition {
  const { id, name, displayName, category, variables, configSchema, uiConfig, createdAt, updatedAt } = type
  return {
    id,
    name,
    displayName,
    category,
    kind: 'cloud',
    defaultConfig: variables,
    config: {
      destConfig: { defaultConfig: variables },
      extraConfig: type.extraConfig ?? [],
      commonConfig: COMMON_CONFIG,
      secretKeys: type.secretKeys,
      hostKeys: type.hostKeys ?? [],
      trustedHostKeys: type.trustedHostKeys ?? [],
      publicKeys: COMMON_CONFIG,
      supportedMessageTypes: { cloud: type.messageTypes },
      supportedConnectionModes: { cordova: ['cloud'], web: ['cloud'], cloud: ['cloud'] },
      supportedSourceTypes: ['cordova', 'web', 'cloud'],
    },
    configSchema,
    uiConfig,
    options: type.options ?? {},
    createdAt,
    updatedAt,
  }
}
