import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatTime, parseTime } from '@millrace/protocol/time'
import type { Offset } from '../event-log.ts'

/**
 * When each segment was first found finished at every destination, stored in `finished.json`: first offset → time. If the
 * file is lost or unreadable, segments are only kept longer.
 */
export class FinishedTimes {
  readonly #file: string
  readonly #times: Map<Offset, number>
  #isChanged = false

  constructor(directory: string) {
    this.#file = join(directory, 'finished.json')
    this.#times = readTimes(this.#file)
  }

  /** When the segment was finished. The first call stores `now`, as does one that finds a time in the future: the clock was wrong. */
  since(first: Offset, now: number): number {
    const known = this.#times.get(first)
    if (known !== undefined && known <= now) return known
    this.#times.set(first, now)
    this.#isChanged = true
    return now
  }

  /** Stores `now` for every segment that would have been finished before a time, when none was: the clock was wrong. */
  correct(before: number, now: number): void {
    for (const [first, at] of this.#times) {
      if (at >= before) continue
      this.#times.set(first, now)
      this.#isChanged = true
    }
  }

  forget(first: Offset): void {
    this.#isChanged = this.#times.delete(first) || this.#isChanged
  }

  save(): void {
    if (!this.#isChanged) return
    const times = Object.fromEntries([...this.#times].map(([first, at]) => [first, formatTime(at)]))
    writeFileSync(`${this.#file}.new`, JSON.stringify(times), { flush: true })
    renameSync(`${this.#file}.new`, this.#file)
    this.#isChanged = false
  }
}

function readTimes(file: string): Map<Offset, number> {
  if (!existsSync(file)) return new Map()
  try {
    const times = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    const entries = Object.entries(times).map(([first, at]) => [Number(first), parseTime(at)] as const)
    return new Map(entries.filter((entry): entry is [Offset, number] => entry[1] !== undefined))
  } catch {
    return new Map()
  }
}
