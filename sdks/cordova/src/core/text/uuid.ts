/** A UUIDv4 of 16 bytes from a secure generator. Its variant is always 8: 120 bits are random. */
export function uuidOf(bytes: Uint8Array): string {
  const digits = [...bytes].map((byte) => (byte + 0x100).toString(16).slice(1)).join('')
  return digits.replace(/(.{8})(.{4}).(.{3}).(.{3})/, '$1-$2-4$3-8$4-')
}
