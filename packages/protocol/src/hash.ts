/**
 * Two 32-bit halves of a hash over the UTF-16 units of a text, mixed like MurmurHash3. Fast and well distributed, but not
 * collision-resistant: compare the texts themselves if equality matters.
 */
let high = 0
let low = 0

function hash(text: string, seed: number): void {
  let a = 0x9e3779b1 ^ seed
  let b = 0x85ebca77 ^ Math.imul(seed, 0x27d4eb2f)
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    a = Math.imul(a ^ unit, 0xcc9e2d51)
    b = Math.imul(b ^ unit, 0x1b873593)
  }
  a ^= text.length
  b ^= text.length
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35)
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35)
  high = a >>> 0
  low = b >>> 0
}

/** Writes the 8-byte hash of a text at `at`. */
export function writeHash64(text: string, target: Buffer, at: number): void {
  hash(text, 0)
  target.writeUInt32LE(low, at)
  target.writeUInt32LE(high, at + 4)
}

/** A 53-bit hash, which a number represents exactly; never negative. */
export function hash53(text: string, seed = 0): number {
  hash(text, seed)
  return (high & 0x1fffff) * 0x1_0000_0000 + low
}
