/** Pieces below this size are copied: a Buffer of its own costs about 460 bytes of memory. */
const SMALL_BYTES = 4 * 1024
const MAX_BLOCK_BYTES = 64 * 1024

/** Joins pieces of bytes. Small pieces are copied into blocks, so many of them need little more memory than their bytes. */
export class ByteCollector {
  #pieces: Buffer[] = []
  #block: Buffer | undefined
  /** The part of the block that is not yet among the pieces. */
  #start = 0
  #end = 0

  add(piece: Buffer): void {
    if (piece.length < SMALL_BYTES) {
      this.#copy(piece)
    } else {
      this.#closePart()
      this.#pieces.push(piece)
    }
  }

  clear(): void {
    this.#pieces = []
    this.#block = undefined
    this.#start = this.#end = 0
  }

  /** Every byte, in order. A single large piece is returned without a copy. */
  whole(): Buffer {
    this.#closePart()
    return this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)
  }

  #copy(piece: Buffer): void {
    if (this.#block === undefined || this.#end + piece.length > this.#block.length) {
      this.#closePart()
      this.#block = Buffer.allocUnsafe(Math.min((this.#block?.length ?? SMALL_BYTES / 2) * 2, MAX_BLOCK_BYTES))
      this.#start = this.#end = 0
    }
    piece.copy(this.#block, this.#end)
    this.#end += piece.length
  }

  #closePart(): void {
    if (this.#end === this.#start) return
    this.#pieces.push(this.#block!.subarray(this.#start, this.#end))
    this.#start = this.#end
  }
}
