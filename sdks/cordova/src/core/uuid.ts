/** A UUIDv4 of 16 bytes from a secure generator. */
export function uuidOf(bytes: Uint8Array): string {
  let text = ''
  bytes.forEach((byte, at) => {
    const bits = at === 6 ? (byte & 0x0f) | 0x40 : at === 8 ? (byte & 0x3f) | 0x80 : byte
    text += ([4, 6, 8, 10].includes(at) ? '-' : '') + (bits + 0x100).toString(16).slice(1)
  })
  return text
}
