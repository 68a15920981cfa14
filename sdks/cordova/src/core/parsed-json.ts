/**
 * What a stored or received text holds; undefined when it is absent, or no JSON.
 *
 * @returns of unknown shape: the caller judges it, and what it judges wrongly must not throw.
 */
// biome-ignore lint/suspicious/noExplicitAny: every caller checks the members that it uses
export function parsedJson(text: string | null | undefined): any {
  try {
    return JSON.parse(text as string)
  } catch {
    return undefined
  }
}

/** An object with members, else an empty one. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export function parsedObject(text: string | null | undefined): Readonly<Record<string, any>> {
  const value = parsedJson(text)
  return typeof value === 'object' && value && !Array.isArray(value) ? value : {}
}
