/** Whether one of the texts contains the part, case-insensitive, like the server's own `q` for names, keys and ids. */
export function isPartOf(part: string, ...texts: readonly string[]): boolean {
  const sought = part.toLowerCase()
  return texts.some((text) => text.toLowerCase().includes(sought))
}
