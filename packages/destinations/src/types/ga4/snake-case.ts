const MAX_NAME_LENGTH = 40

/** Lower snake case of letters, digits and `_`, beginning with a letter, at most 40 characters. */
export function snakeCase(name: string): string {
  const words = name
    .normalize('NFC')
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1_$2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^[^\p{L}]+/u, '')
  return Array.from(words).slice(0, MAX_NAME_LENGTH).join('').replace(/_+$/, '')
}
