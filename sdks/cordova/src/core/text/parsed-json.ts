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

/** An object with members, else what is to be instead. */
// biome-ignore lint/suspicious/noExplicitAny: as above
export function parsedObject<Else = Readonly<Record<string, any>>>(
  text: string | null | undefined,
  otherwise: Else = {} as Else,
  // biome-ignore lint/suspicious/noExplicitAny: as above
): Readonly<Record<string, any>> | Else {
  const value = parsedJson(text)
  return typeof value === 'object' && value && !Array.isArray(value) ? value : otherwise
}
