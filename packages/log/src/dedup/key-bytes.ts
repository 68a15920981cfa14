export const KEY_BYTES = 8

/** Collects keys in memory that is used again. */
export class KeyBytes {
  #view = new DataView(new ArrayBuffer(1_024))
  #end = 0

  /** Number of keys, if no times are among them. */
  get count(): number {
    return this.#end / KEY_BYTES
  }

  low(key: number): number {
    return this.#view.getUint32(key * KEY_BYTES, true)
  }

  high(key: number): number {
    return this.#view.getUint32(key * KEY_BYTES + 4, true)
  }

  clear(): void {
    this.#end = 0
  }

  addKey(low: number, high: number): void {
    this.#reserve()
    this.#view.setUint32(this.#end, low, true)
    this.#view.setUint32(this.#end + 4, high, true)
    this.#end += KEY_BYTES
  }

  addTime(at: number): void {
    this.#reserve()
    this.#view.setFloat64(this.#end, at, true)
    this.#end += KEY_BYTES
  }

  /** Takes out a copy of all bytes. */
  take(): Uint8Array {
    const bytes = new Uint8Array(this.#view.buffer.slice(0, this.#end))
    this.#end = 0
    return bytes
  }

  #reserve(): void {
    if (this.#end + KEY_BYTES <= this.#view.byteLength) return
    this.#view = new DataView(this.#view.buffer.transfer(this.#view.byteLength * 2))
  }
}
