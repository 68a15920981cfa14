import type { JobPart, LogSelection } from '@millrace/delivery'
import type { JobContext, JobWork } from '../job-context.ts'
import { RangeLostError } from './log-scan.ts'
import type { ScanPlace, SelectedEvent } from './scan-calls.ts'

/** After this many reads without a match the place is written: about 16 MB. */
const MAX_SCANNED_IN_VAIN = 64

/** Delivers events of a range of the log again, or for the first time to a new destination. @see decision 0033 */
export class LogWork implements JobWork {
  readonly #context: JobContext
  readonly #selection: LogSelection
  readonly #partsToDo: Part[]

  constructor(context: JobContext, selection: LogSelection) {
    this.#context = context
    this.#selection = selection
    this.#partsToDo = context.job.parts.flatMap((part) => (part.isAtEnd ? [] : [{ ...part, place: placeOf(part) }]))
  }

  /**
   * Counts the whole range: owners pass over events of a removed source, and those are in no other figure. Outcomes change
   * while the job works, and retention may delete what was taken: then it counts what is left, and adds what was taken.
   */
  async count(): Promise<number | undefined> {
    const { within, outcomes } = this.#selection
    if (within !== undefined && outcomes.length === 0) {
      try {
        return await this.#countFrom(({ partition }) => ({ offset: within[partition]!.from, index: 0 }))
      } catch (error) {
        if (!(error instanceof RangeLostError)) throw error
      }
    }
    const left = await this.#countFrom(placeOf)
    return left === undefined ? undefined : left + this.#context.job.taken
  }

  async #countFrom(placeIn: (part: JobPart) => ScanPlace): Promise<number | undefined> {
    let matched = 0
    for (const part of this.#context.job.parts) {
      const { destinationId, partition } = part
      const of = { partition, selection: this.#selection, destinationId }
      let place = placeIn(part)
      for (let isAtEnd = false; !isAtEnd; ) {
        const step = await this.#context.read((_, signal) => this.#context.deps.scan.next(of, place, signal))
        if (step === undefined) return undefined
        matched += step.found.length
        place = step.next
        isAtEnd = step.isAtEnd
      }
    }
    return matched
  }

  /** Parts run concurrently: a slow destination does not delay the others. */
  async carryOut(): Promise<void> {
    const ends = await Promise.allSettled([...this.#partsToDo].map((part) => this.#replayOrHalt(part)))
    const failed = ends.find((end) => end.status === 'rejected')
    if (failed === undefined) return
    this.#context.begin()
    throw failed.reason
  }

  async resumeTaken(): Promise<void> {
    const { job, deps } = this.#context
    const waits = await deps.store.jobs.replayingEvents({ jobId: job.id, partitions: deps.partitions() })
    for (const [partition, ofPartition] of Map.groupBy(waits, (wait) => wait.partition)) {
      for (const { destinationId } of ofPartition) this.#context.started(destinationId, 1)
      await deps.shardOf(partition).resumeReplayed(ofPartition)
    }
  }

  neededFrom(partition: number): number {
    const offsets = this.#partsToDo.flatMap((part) => (part.partition === partition ? [part.place.offset] : []))
    return Math.min(Number.POSITIVE_INFINITY, ...offsets)
  }

  /** If one part fails, the others start no more events. */
  async #replayOrHalt(part: Part): Promise<void> {
    try {
      await this.#replay(part)
    } catch (error) {
      this.#context.halt()
      throw error
    }
  }

  async #replay(part: Part): Promise<void> {
    const { deps, waits } = this.#context
    const { partition, destinationId } = part
    const of = { partition, selection: this.#selection, destinationId }
    let found: readonly SelectedEvent[] = []
    let next = part.place
    let isScanned = false
    let scannedInVain = 0
    for (;;) {
      if (this.#context.isHalted) return
      // The removal of the destination discarded its events.
      if (deps.destination(destinationId) === undefined) break
      if (this.#context.isFull(destinationId)) {
        await waits.untilTold()
        continue
      }
      if (found.length === 0 && !isScanned) {
        const step = await this.#context.read((_, signal) => deps.scan.next(of, next, signal))
        if (step === undefined) return
        found = step.found
        next = step.next
        isScanned = step.isAtEnd
        if (found.length === 0 && !isScanned && ++scannedInVain < MAX_SCANNED_IN_VAIN) continue
        scannedInVain = 0
      }
      const { takenTogether } = this.#context
      const taken = found.slice(0, takenTogether)
      const rest = found.slice(takenTogether)
      await this.#context.pace(taken.length)
      const isAtEnd = isScanned && rest.length === 0
      const place = rest[0] === undefined ? next : { offset: rest[0].offset, index: rest[0].index }
      if (!(await this.#take(part, taken, place, isAtEnd))) return
      found = rest
      if (isAtEnd) break
    }
    this.#partsToDo.splice(this.#partsToDo.indexOf(part), 1)
  }

  /** @returns false if the job was halted before it started them. */
  async #take(part: Part, events: readonly SelectedEvent[], place: ScanPlace, isAtEnd: boolean): Promise<boolean> {
    const { job, deps } = this.#context
    const { partition, destinationId } = part
    const take = { jobId: job.id, part: { partition, destinationId }, events, isAtEnd }
    // An event may end before the answer is here.
    this.#context.started(destinationId, events.length)
    const answer = await this.#context.attempt(async () => {
      return (await deps.shardOf(partition).takeReplayed({ ...take, place: [place.offset, place.index] })) ?? 'removed'
    })
    if (answer === undefined || answer === 'removed') {
      this.#context.ended(destinationId, events.length)
      return answer === 'removed'
    }
    this.#context.ended(destinationId, events.length - answer.taken)
    part.place = place
    if (answer.filtered > 0) deps.onFiltered(destinationId, answer.filtered)
    return true
  }
}

/** The place of the part on disk. */
type Part = Omit<JobPart, 'place'> & { place: ScanPlace }

function placeOf({ place: [offset = 0, index = 0] }: JobPart): ScanPlace {
  return { offset, index }
}
