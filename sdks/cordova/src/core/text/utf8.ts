/** Of every WebView and of Node; the core is compiled without their types. */
declare const TextEncoder: new () => { encode(text: string): Uint8Array }

/** Of a push token, an advertisement id and the list of external ids: every event carries them. */
export const MAX_CARRIED_BYTES = 4096

/** Bytes of a text in UTF-8; a lone surrogate counts as the three bytes of its replacement. */
export function utf8Length(text: string): number {
  return utf8(text).length
}

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
