/** A UUIDv4 of 16 bytes from a secure generator. */
export function uuidOf(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < 16; at++) {
    let byte = bytes[at]!
    if (at === 6) byte = (byte & 0x0f) | 0x40
    if (at === 8) byte = (byte & 0x3f) | 0x80
    if (at === 4 || at === 6 || at === 8 || at === 10) text += '-'
    text += HEX[byte]
  }
  return text
}

const HEX = Array.from({ length: 256 }, (_, byte) => (byte + 0x100).toString(16).slice(1))
