import type { JsonObject } from '@millrace/protocol'

/** A configured text; undefined if it is empty, or of another kind, as an override of the Test API may give. */
export function configText(config: JsonObject, name: string): string | undefined {
  const value = config[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** @throws Error without one. */
export function requiredText(config: JsonObject, name: string): string {
  const value = configText(config, name)
  if (value === undefined) throw new Error(`${name} is missing`)
  return value
}
