import type { DeadLetterJob, DeadLetterRow, JobKind, LetterSelection } from '@millrace/delivery'
import { resourceId } from '@millrace/protocol'
import { Refused } from '../refused.ts'
import { JobRun, type JobSurroundings } from './job-run.ts'

const MOST_RUNNING = 10
/** Those that wait their turn, or are paused, included. */
const MOST_UNFINISHED = 1_000

export interface NewJob {
  readonly kind: JobKind
  readonly selection: LetterSelection
  readonly isDryRun: boolean
  /** E-mail of a user. */
  readonly createdBy: string
}

/**
 * What people do with dead letters: discards, one or many. Many are a job that goes on in the background, over restarts;
 * at most 10 run at a time, the others wait in their order.
 *
 * @see contracts/delivery.md §6, §7, §10 [D634]
 */
export class DeadLetterJobs {
  readonly #surroundings: JobSurroundings
  readonly #random: () => number
  /** Unfinished ones, oldest first. */
  readonly #runs = new Map<string, JobRun>()

  constructor(surroundings: JobSurroundings, random: () => number) {
    this.#surroundings = surroundings
    this.#random = random
  }

  /** Goes on with what the last run left unfinished. */
  async start(): Promise<void> {
    for (const job of await this.#surroundings.store.call('unfinishedJobs', undefined)) await this.#open(job)
    this.#startNext()
  }

  /** Nothing more is taken up. */
  async stop(): Promise<void> {
    await Promise.all([...this.#runs.values()].map((run) => run.halt()))
  }

  /** @throws Refused 409 */
  async create({ kind, selection, isDryRun, createdBy }: NewJob): Promise<DeadLetterJob> {
    if (this.#runs.size >= MOST_UNFINISHED) throw new Refused('conflict', 'Too many unfinished replays')
    const { store, clock } = this.#surroundings
    const at = clock.now()
    const destinationIds = this.#surroundings.destinationIds()
    const id = resourceId(
      at,
      Uint8Array.from({ length: 14 }, () => Math.floor(this.#random() * 256)),
    )
    const job = await store.call('createJob', { id, kind, isDryRun, selection, destinationIds, createdBy, at })
    await this.#open(job)
    this.#startNext()
    return job
  }

  /** @returns undefined if there is none with this id. */
  get(id: string): Promise<DeadLetterJob | undefined> {
    return this.#surroundings.store.call('job', id)
  }

  list(limit: number, before: number | null): Promise<{ jobs: DeadLetterJob[]; next: number | null }> {
    return this.#surroundings.store.call('jobs', { limit, before })
  }

  /** Discards one that is open. @returns it as it was before; undefined if there is none with this id. */
  async discard(id: string): Promise<DeadLetterRow | undefined> {
    const { store, clock, onDiscarded } = this.#surroundings
    const letter = await store.call('discardLetter', { id, at: clock.now() })
    if (letter?.state === 'open') onDiscarded(letter.destinationId, 1)
    return letter
  }

  async #open(job: DeadLetterJob): Promise<void> {
    this.#runs.set(job.id, new JobRun(job, this.#surroundings))
  }

  #startNext(): void {
    const runs = [...this.#runs.values()]
    let running = runs.filter(({ isRunning }) => isRunning).length
    for (const run of runs) {
      if (running >= MOST_RUNNING) break
      if (run.isRunning) continue
      running++
      void run.run().then((isFinished) => {
        if (!isFinished) return
        this.#runs.delete(run.id)
        this.#startNext()
      })
    }
  }
}
