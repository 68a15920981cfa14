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

const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c

/**
 * Kept keys in UTF-8 as members of a JSON object, `"path":"type","path":"type", …`, without reading them: a list of models has
 * hundreds of thousands. Every other comma becomes a colon, in place.
 */
export function keysAsMembers(keys: Uint8Array): Uint8Array {
  for (let at = 1, isPath = true; at < keys.length - 1; isPath = !isPath) {
    at = afterString(keys, at)
    if (isPath) keys[at] = COLON
    at++
  }
  return keys.subarray(1, -1)
}

/** @param at of its opening quote. */
function afterString(json: Uint8Array, at: number): number {
  for (at++; at < json.length && json[at] !== QUOTE; at++) if (json[at] === BACKSLASH) at++
  return at + 1
}
