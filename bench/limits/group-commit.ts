import { Worker } from 'node:worker_threads'

const MAX_IN_A_GROUP = 64

interface Waiting {
  readonly body: Buffer
  readonly onStored: () => void
}

/** Appends bodies to a SQLite file; those that come while one group is being synced form the next. */
export class GroupCommit {
  readonly #thread: Worker
  #waiting: Waiting[] = []
  #underWay: Waiting[] = []
  #isPlanned = false

  constructor(file: string) {
    this.#thread = new Worker(new URL('./append-thread.ts', import.meta.url), { workerData: file })
    this.#thread.on('message', () => {
      const stored = this.#underWay
      this.#underWay = []
      for (const { onStored } of stored) onStored()
      this.#commit()
    })
  }

  append(body: Buffer, onStored: () => void): void {
    this.#waiting.push({ body, onStored })
    if (this.#isPlanned || this.#underWay.length > 0) return
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      this.#commit()
    })
  }

  #commit(): void {
    if (this.#underWay.length > 0 || this.#waiting.length === 0) return
    this.#underWay = this.#waiting.splice(0, MAX_IN_A_GROUP)
    let size = 0
    const ends = this.#underWay.map(({ body }) => (size += body.length))
    const bytes = Buffer.from(new ArrayBuffer(size))
    for (const [i, { body }] of this.#underWay.entries()) body.copy(bytes, ends[i]! - body.length)
    this.#thread.postMessage({ bytes, ends }, [bytes.buffer])
  }
}
