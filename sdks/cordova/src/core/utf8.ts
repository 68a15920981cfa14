/** Of every WebView and of Node; the core is compiled without their types. */
declare const TextEncoder: new () => { encode(text: string): { readonly length: number } }

/** Of a push token and an advertisement id: every event carries them. */
export const MAX_CARRIED_BYTES = 4096

/** Bytes of a text in UTF-8; a lone surrogate counts as the three bytes of its replacement. */
export function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length
}
