/*
 * What goes through the pipes between the server and a child: frames, one after the other. A frame is the number of
 * bytes that follow, the number of its texts, the bytes of each text, then the texts in UTF-8. Numbers have 32 bits,
 * little-endian. The first text is a message as JSON; large texts of the message follow it, so that they are neither
 * escaped nor parsed on the way (messages.ts says which).
 */

const NUMBER = 4
/** The fetches of one run are the most: 20 for each of 100 events, behind their message. */
const MAX_TEXTS = 2_001

export class InvalidFrameError extends Error {
  override readonly name = 'InvalidFrameError'
  readonly code = 'invalid-frame'
}

export function frame(message: object, texts: readonly string[] = []): Buffer {
  const all = [JSON.stringify(message), ...texts]
  const lengths = all.map((text) => Buffer.byteLength(text))
  const head = NUMBER * (2 + all.length)
  const bytes = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + length, head))
  bytes.writeUInt32LE(bytes.length - NUMBER, 0)
  bytes.writeUInt32LE(all.length, NUMBER)
  let at = head
  for (const [index, text] of all.entries()) {
    bytes.writeUInt32LE(lengths[index]!, NUMBER * (2 + index))
    at += bytes.write(text, at)
  }
  return bytes
}

/** Cuts a stream of bytes into frames. */
export class FrameReader {
  readonly #maxBytes: number
  #chunks: Buffer[] = []
  #length = 0

  /** @param maxBytes of one frame; a larger one is refused as soon as its length is known. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Whether nothing of a further frame has come. */
  get isEmpty(): boolean {
    return this.#length === 0
  }

  /**
   * @returns the texts of each frame that the chunk completes.
   * @throws InvalidFrameError; nothing can be read after that.
   */
  take(chunk: Buffer): string[][] {
    this.#chunks.push(chunk)
    this.#length += chunk.length
    const frames: string[][] = []
    for (let bytes = this.#next(); bytes !== undefined; bytes = this.#next()) frames.push(textsOf(bytes))
    return frames
  }

  /** The bytes of the next frame, without its length, once they are all here. */
  #next(): Buffer | undefined {
    if (this.#length < NUMBER) return undefined
    if (this.#chunks[0]!.length < NUMBER) this.#chunks = [Buffer.concat(this.#chunks)]
    const length = this.#chunks[0]!.readUInt32LE(0)
    if (length > this.#maxBytes) throw new InvalidFrameError(`a frame of ${length} bytes`)
    const end = NUMBER + length
    if (this.#length < end) return undefined
    const bytes = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
    this.#chunks = bytes.length === end ? [] : [bytes.subarray(end)]
    this.#length -= end
    return bytes.subarray(NUMBER, end)
  }
}

function textsOf(bytes: Buffer): string[] {
  const count = bytes.length < NUMBER ? 0 : bytes.readUInt32LE(0)
  if (count < 1 || count > MAX_TEXTS) throw new InvalidFrameError(`a frame of ${count} texts`)
  let at = NUMBER * (1 + count)
  if (at > bytes.length) throw new InvalidFrameError('a frame that ends before its texts')
  const texts: string[] = []
  for (let index = 1; index <= count; index++) {
    const end = at + bytes.readUInt32LE(NUMBER * index)
    if (end > bytes.length) throw new InvalidFrameError('a text that ends behind its frame')
    texts.push(bytes.toString('utf8', at, end))
    at = end
  }
  if (at !== bytes.length) throw new InvalidFrameError('a frame with bytes behind its texts')
  return texts
}
