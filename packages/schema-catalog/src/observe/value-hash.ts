/** The two halves of the last hash: numbers of 32 bits, in the place that `hashValue` leaves them. */
export const hashed = new Int32Array(2)

/** Two 32-bit numbers that make the hashes of one catalog its own, so that nobody can make up values that collide. */
export interface HashSeed {
  readonly a: number
  readonly b: number
}

/** Hashes a text to 64 bits, into `hashed`; not a digest: it tells values apart, with a chance of 2^-63 to err per pair. */
export function hashValue(text: string, seed: HashSeed): void {
  let a = seed.a | 0
  let b = seed.b | 0
  const { length } = text
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i)
    a = Math.imul(a ^ unit, 0x9e3779b1)
    b = Math.imul(b ^ unit, 0x85ebca77)
    a ^= a >>> 15
    b ^= b >>> 13
  }
  hashed[0] = mixed(a ^ length ^ Math.imul(b, 0xc2b2ae35))
  hashed[1] = mixed(b ^ Math.imul(a, 0x27d4eb2f))
}

/** Spreads 32 bits over 32 bits. */
export function mixed(bits: number): number {
  let x = bits
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
  return x ^ (x >>> 16)
}
