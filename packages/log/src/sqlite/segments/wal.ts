import { closeSync, openSync, readSync } from 'node:fs'
import { PAGE_BYTES } from './segment-files.ts'

/*
 * SQLite's WAL (https://www.sqlite.org/fileformat2.html#walformat), numbers big-endian. A header:
 *
 *   0  u32  magic: the checksums read the file as little-endian or as big-endian words
 *   4  12   format, page size, number of the checkpoint
 *  16  8    salt
 *  24  8    checksum of the bytes before it
 *
 * Then frames, each a header and a page:
 *
 *   0  u32  page number
 *   4  u32  in the last frame of a commit the pages of the database, else 0
 *   8  8    salt of the WAL
 *  16  8    checksum of the first 8 bytes and the page, which continues the checksum of the frame before
 */
const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const FRAME_BYTES = FRAME_HEADER_BYTES + PAGE_BYTES
const MAGICS = [0x377f0682, 0x377f0683]
const FRAMES_AT_A_TIME = 64

/**
 * Which commits damage cut off that were synced. SQLite stops at the first frame that fails its checksum, and ignores every frame behind
 * it. A crash leaves such frames only in the last commit, because a commit begins after the one before is synced. So two commits behind the
 * damage, whose frames continue each other's checksums, prove the loss. Frames of commits that failed do not continue each other.
 *
 * Call it before the database is opened for writing: the next commit overwrites these frames. It cannot tell damage in the last commit from a
 * crash during that commit.
 */
export function lostCommits(walPath: string): LostCommits {
  const file = openSync(walPath, 'r')
  try {
    return new WalWalk(file).lost()
  } finally {
    closeSync(file)
  }
}

/** `rest`: those behind some that SQLite finds. */
export type LostCommits = 'none' | 'rest' | 'all'

class WalWalk {
  readonly #file: number
  readonly #isLittleEndian: boolean
  /** Undefined if the header is damaged. */
  readonly #salt: bigint | undefined
  #sums: Sums
  #isIntact: boolean
  /** Whether SQLite finds a commit. */
  #hasCommit = false
  /** Commits behind the damage whose frames continue each other. */
  #lost = 0

  constructor(file: number) {
    this.#file = file
    const header = viewOf(Buffer.alloc(HEADER_BYTES))
    readSync(file, header, 0, HEADER_BYTES, 0)
    const magic = header.getUint32(0)
    // If the magic is damaged, the order of nearly all machines.
    this.#isLittleEndian = magic !== MAGICS[1]
    this.#sums = storedSums(header, 24)
    this.#isIntact = MAGICS.includes(magic) && isSame(this.#summed([0, 0], header, 0, 24), this.#sums)
    this.#salt = this.#isIntact ? header.getBigUint64(16) : undefined
  }

  lost(): LostCommits {
    const frames = Buffer.allocUnsafe(FRAMES_AT_A_TIME * FRAME_BYTES)
    for (let at = HEADER_BYTES; ; at += frames.length) {
      const read = readSync(this.#file, frames, 0, frames.length, at)
      for (let start = 0; start + FRAME_BYTES <= read; start += FRAME_BYTES) {
        this.#pass(viewOf(frames.subarray(start, start + FRAME_BYTES)))
        if (this.#lost === 2) return this.#hasCommit ? 'rest' : 'all'
      }
      if (read < frames.length) return 'none'
    }
  }

  #pass(frame: DataView): void {
    const stored = storedSums(frame, 16)
    const isOfWal = this.#salt === undefined || frame.getBigUint64(8) === this.#salt
    const summed = isOfWal ? this.#summed(this.#summed(this.#sums, frame, 0, 8), frame, FRAME_HEADER_BYTES) : undefined
    this.#sums = stored
    if (summed === undefined || !isSame(summed, stored)) {
      this.#isIntact = false
      this.#lost = 0
    }
    if (!isOfWal || frame.getUint32(4) === 0) return
    if (this.#isIntact) this.#hasCommit = true
    else this.#lost++
  }

  #summed([first, second]: Sums, view: DataView, from: number, to = view.byteLength): Sums {
    let a = first
    let b = second
    for (let at = from; at < to; at += 8) {
      a = (a + view.getUint32(at, this.#isLittleEndian) + b) | 0
      b = (b + view.getUint32(at + 4, this.#isLittleEndian) + a) | 0
    }
    return [a, b]
  }
}

/** Two signed 32-bit sums. */
type Sums = readonly [number, number]

function storedSums(view: DataView, at: number): Sums {
  return [view.getInt32(at), view.getInt32(at + 4)]
}

function isSame(a: Sums, b: Sums): boolean {
  return a[0] === b[0] && a[1] === b[1]
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}
