import type { DestinationDefinition } from '@millrace/destinations'

/**
 * A definition as it is shown.
 *
 * @param hasSchema with what is needed to save and to show a config, beside what a test needs.
 * @see contracts/test-api.md §12, destinations.md §2
 */
export function definitionJson(definition: DestinationDefinition, hasSchema: boolean) {
  const { id, name, displayName, category, kind, defaultConfig, config } = definition
  const { destConfig, secretKeys, supportedMessageTypes, supportedConnectionModes, supportedSourceTypes } = config
  const { extraConfig, commonConfig, hostKeys, publicKeys } = config
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
      ...(hasSchema ? { hostKeys, publicKeys } : {}),
      supportedMessageTypes,
      supportedConnectionModes,
      supportedSourceTypes,
    },
    ...(hasSchema ? { configSchema, uiConfig, options, createdAt, updatedAt } : {}),
  }
}
