import { BackgroundCheckpoint } from './background-checkpoint.ts'
import type { SegmentEntry, SegmentList } from './segment-list.ts'

/** Closes the segments in state `closing`, oldest first: a checkpoint makes each one read-only. */
export class CheckpointQueue {
  readonly #list: SegmentList
  readonly #background = new BackgroundCheckpoint()

  constructor(list: SegmentList) {
    this.#list = list
  }

  /**
   * Runs one checkpoint at a time in the background; if checkpoints fall behind, appends wait here. Each call retries a
   * failed checkpoint.
   */
  startNext(): void {
    const waiting = this.#list.entries.filter((entry) => entry.state === 'closing')
    if (waiting.length > MAX_WAITING_CHECKPOINTS) this.#checkpointHere(waiting.at(-1)!)
    const entry = waiting[0]
    if (entry === undefined || this.#background.isRunning) return
    const onDone = () => {
      if (this.#list.entries.includes(entry)) this.#becomeClosed(entry)
    }
    this.#background.start(entry.path, onDone, () => {
      // A read may have set it aside meanwhile.
      const isListed = () => this.#list.entries.includes(entry)
      if (entry.state === 'closing' && isListed()) this.#setAsideIfDamaged(entry)
      if (entry.state === 'closed' || !isListed()) this.startNext()
    })
  }

  /** Waits for the running checkpoint; starts no other. */
  stop(): Promise<void> {
    return this.#background.stop()
  }

  #checkpointHere(entry: SegmentEntry): void {
    try {
      this.#list.handle(entry).checkpoint()
      this.#becomeClosed(entry)
    } catch {
      // Retried with the next segment; the data is safe in the WAL.
    }
  }

  /** A segment that can never be checkpointed would block the ones after it. */
  #setAsideIfDamaged(entry: SegmentEntry): void {
    try {
      this.#list.release(entry)
      this.#list.guarded(entry, (segment) => segment.end())
    } catch {
      // It cannot be opened at the moment, which does not mean that it is damaged.
    }
  }

  #becomeClosed(entry: SegmentEntry): void {
    this.#list.release(entry)
    entry.state = 'closed'
  }
}

const MAX_WAITING_CHECKPOINTS = 3
