/** A key with its type: one, or several that a comma joins. */
export type TypedKey = readonly [path: string, type: string]

/** `["path","type","path","type", …]`, as keys are kept. */
export function formatKeys(keys: readonly TypedKey[]): string {
  return JSON.stringify(keys.flat())
}

export function parseKeys(text: string): TypedKey[] {
  const flat = JSON.parse(text) as string[]
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i]!, flat[2 * i + 1]!] as const)
}

/**
 * Kept keys as members of a JSON object, `"path":"type","path":"type", …`, without reading them: a list of models has hundreds of
 * thousands. A type begins with a letter, and so is told from whatever a path may hold.
 */
export function keysAsMembers(text: string): string {
  return text.slice(1, -1).replaceAll(/","([a-z][a-z0-9,]*)"/g, '":"$1"')
}
