import { existsSync, statfsSync } from 'node:fs'
import type { Clock } from '@millrace/std'

const FRESH_MS = 500

/** Free space on the volume of the data folder, measured only as often as it can matter. */
export class DiskSpace {
  readonly #path: string
  readonly #floorBytes: number
  readonly #clock: Clock
  #lookedAt = Number.NEGATIVE_INFINITY
  #freeBytes = 0
  #isFolderThere = true

  /** @param floorBytes below this the server stops accepting events; 0 disables the check. */
  constructor(path: string, floorBytes: number, clock: Clock) {
    this.#path = path
    this.#floorBytes = floorBytes
    this.#clock = clock
  }

  get freeBytes(): number {
    this.#look()
    return this.#freeBytes
  }

  /** Size of the volume. */
  get volumeBytes(): number {
    const { blocks, bsize } = statfsSync(this.#path)
    return blocks * bsize
  }

  get isLow(): boolean {
    this.#look()
    return this.#freeBytes < this.#floorBytes
  }

  /** Whether free space is under twice the floor: the log then deletes early. */
  get isShort(): boolean {
    this.#look()
    return this.#freeBytes < 2 * this.#floorBytes
  }

  /** Why nothing can be written, for /health; undefined if all works. */
  trouble(): string | undefined {
    this.#look()
    if (!this.#isFolderThere) return 'the data folder is gone'
    if (this.isLow) return `free space below ${Math.round(this.#floorBytes / 1024 / 1024)} MB`
    return undefined
  }

  #look(): void {
    const now = this.#clock.monotonic()
    if (now - this.#lookedAt < FRESH_MS) return
    this.#lookedAt = now
    this.#isFolderThere = existsSync(this.#path)
    if (!this.#isFolderThere) return
    const { bavail, bsize } = statfsSync(this.#path)
    this.#freeBytes = bavail * bsize
  }
}
