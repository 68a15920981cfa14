import type { DestinationDefinition } from '@millrace/destinations'
import type { JsonObject } from '@millrace/protocol'

/**
 * A definition as it is shown.
 *
 * @param hasSchema with what is needed to save and to show a config, beside what a test needs.
 * @param editor further members of uiConfig.
 * @see contracts/test-api.md §12, destinations.md §2
 */
export function definitionJson(definition: DestinationDefinition, hasSchema: boolean, editor?: JsonObject) {
  const { id, name, displayName, category, kind, defaultConfig, config } = definition
  const { destConfig, secretKeys, supportedMessageTypes, supportedConnectionModes, supportedSourceTypes } = config
  const { extraConfig, commonConfig, hostKeys, trustedHostKeys = [], publicKeys } = config
  const { configSchema, uiConfig, options, createdAt, updatedAt } = definition
  return {
    id,
    name,
    displayName,
    category,
    kind,
    defaultConfig,
    config: {
      destConfig,
      ...(hasSchema ? { extraConfig, commonConfig } : {}),
      secretKeys,
      ...(hasSchema ? { hostKeys, trustedHostKeys, publicKeys } : {}),
      supportedMessageTypes,
      supportedConnectionModes,
      supportedSourceTypes,
    },
    ...(hasSchema ? { configSchema, uiConfig: { ...uiConfig, ...editor }, options, createdAt, updatedAt } : {}),
  }
}
