const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const LENGTH = 27
const EPOCH_SECONDS = 1_400_000_000
const LAST_MS = (EPOCH_SECONDS + 0xff_ff_ff_ff) * 1000

/**
 * Id of a resource: 27 base62 characters that sort by creation time. The layout is a KSUID (seconds since 2014-05-13, 4
 * bytes) whose next 2 bytes hold the fraction of the second.
 *
 * @param nowMs clamped to the range of the id; an unset clock may say 1970.
 * @param random 14 bytes.
 * @see contracts/control-plane.md §4 "ids"
 */
export function resourceId(nowMs: number, random: Uint8Array): string {
  const bytes = Buffer.alloc(20)
  const ms = Math.min(LAST_MS, Math.max(EPOCH_SECONDS * 1000, nowMs))
  bytes.writeUInt32BE(Math.floor(ms / 1000) - EPOCH_SECONDS, 0)
  bytes.writeUInt16BE(Math.floor(ms % 1000) * 65, 4)
  bytes.set(random.subarray(0, 14), 6)
  return base62(bytes, LENGTH)
}

/** Encodes the bytes, as one big-endian number, in base62: zero-padded or truncated to `length` digits. */
export function base62(bytes: Uint8Array, length: number): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  let text = ''
  for (let i = 0; i < length; i++) {
    text = ALPHABET[Number(rest % 62n)]! + text
    rest /= 62n
  }
  return text
}
