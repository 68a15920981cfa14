/**
 * A text as Postgres stores it: it has no NUL character and no half of a surrogate pair. Both come from answers of
 * destinations and from user code; each becomes U+FFFD.
 */
export function storedText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

/** Size of the stored text. */
export function storedBytes(text: string): number {
  return Buffer.byteLength(storedText(text))
}
