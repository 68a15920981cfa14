/**
 * Specifiers of imports, and the stack of an error that the engine has copied out of a sandbox, have a character for
 * each byte of their UTF-8.
 */
export function engineText(given: string): string {
  return Buffer.from(given, 'latin1').toString()
}
