/**
 * What a text leaves in the hex and in the base64 of any longer text that it is a part of: of base64, in both alphabets
 * and without padding, the characters that depend on the text alone, wherever among three bytes it begins. In UTF-8, and
 * with one byte a character, as btoa takes it.
 */
export function byteForms(text: string): string[] {
  const utf8 = Buffer.from(text)
  const latin1 = Buffer.from(text, 'latin1')
  const isOther = latin1.toString('latin1') === text && !latin1.equals(utf8)
  return (isOther ? [utf8, latin1] : [utf8]).flatMap((bytes) => {
    const hex = bytes.toString('hex')
    return [hex, hex.toUpperCase(), ...base64Forms(bytes)]
  })
}

function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const all = Buffer.concat([Buffer.alloc(before), bytes])
    const base64 = all.toString('base64').replace(/=+$/, '')
    const own = base64.slice(before === 0 ? 0 : before + 1, all.length % 3 === 0 ? undefined : -1)
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')]
  })
}
