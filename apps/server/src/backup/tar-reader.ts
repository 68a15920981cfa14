import type { FileHandle } from 'node:fs/promises'
import { BLOCK_BYTES, END_BYTES, isZero, paddingOf, readTarHeader, TarFormatError, type TarHeader } from './tar.ts'

const CHUNK_BYTES = 1024 * 1024

/** The file ends too early. */
export class CutFileError extends Error {
  override readonly name = 'CutFileError'
  readonly code = 'cut_file'
}

/**
 * Reads a tar file of ours from beginning to end. It checks every byte: padding must have the written value, too.
 */
export class TarReader {
  /** Time of the first member; undefined if the file does not begin with a member. */
  readonly first: TarHeader | undefined
  readonly #file: FileHandle
  #header: TarHeader | undefined
  /** Padding after the member that was read. */
  #contentAt = BLOCK_BYTES
  readonly #chunk = Buffer.allocUnsafe(CHUNK_BYTES)

  static async open(file: FileHandle): Promise<TarReader> {
    const block = Buffer.alloc(BLOCK_BYTES)
    await file.read(block, 0, BLOCK_BYTES, 0)
    return new TarReader(file, firstHeader(block))
  }

  private constructor(file: FileHandle, first: TarHeader | undefined) {
    this.#file = file
    this.first = first
    this.#header = first
  }

  /** The header of the next member; undefined at the end. @throws CutFileError, TarFormatError */
  async next(): Promise<TarHeader | undefined> {
    const { sizeBytes } = this.#header!
    const paddingAt = this.#contentAt + sizeBytes
    const padding = paddingOf(sizeBytes)
    const bytes = await this.#read(paddingAt, padding + BLOCK_BYTES)
    if (!isZero(bytes.subarray(0, padding))) throw new TarFormatError('unexpected data between two members')
    this.#contentAt = paddingAt + padding + BLOCK_BYTES
    this.#header = readTarHeader(bytes.subarray(padding))
    return this.#header
  }

  /** The content of the member in pieces, each valid until the next one. @throws CutFileError */
  async *content(): AsyncGenerator<Buffer> {
    const { sizeBytes } = this.#header!
    for (let at = 0; at < sizeBytes; ) {
      const piece = await this.#read(this.#contentAt + at, Math.min(CHUNK_BYTES, sizeBytes - at))
      at += piece.length
      yield piece
    }
  }

  /** The whole content of a small member. */
  async peekContent(): Promise<Buffer> {
    return Buffer.from(await this.#read(this.#contentAt, this.#header!.sizeBytes))
  }

  /** Checks the end of the file: zeros, and no further data. @throws CutFileError, TarFormatError */
  async expectEnd(): Promise<void> {
    const endAt = this.#contentAt - BLOCK_BYTES
    if (!isZero(await this.#read(endAt, END_BYTES)) || (await this.#file.stat()).size !== endAt + END_BYTES) {
      throw new TarFormatError('unexpected data after its end')
    }
  }

  async #read(at: number, length: number): Promise<Buffer> {
    for (let read = 0; read < length; ) {
      const { bytesRead } = await this.#file.read(this.#chunk, read, length - read, at + read)
      if (bytesRead === 0) throw new CutFileError('the file is truncated')
      read += bytesRead
    }
    return this.#chunk.subarray(0, length)
  }
}

function firstHeader(block: Buffer): TarHeader | undefined {
  try {
    return readTarHeader(block)
  } catch {
    return undefined
  }
}
