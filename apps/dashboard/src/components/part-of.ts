/** Whether one of the texts holds the part, in any case: as the server's own `q` finds names, keys and ids. */
export function isPartOf(part: string, ...texts: readonly string[]): boolean {
  const sought = part.toLowerCase()
  return texts.some((text) => text.toLowerCase().includes(sought))
}
