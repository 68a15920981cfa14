import { Worker } from 'node:worker_threads'

/** Moves the WAL of one segment at a time into its database file, in a thread of its own. */
export class BackgroundCheckpoint {
  #running: Worker | undefined

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /**
   * @param onDone called when the database file is complete; not after a failure, such as a full disk.
   * @param onEnd called when the thread has ended, unless `stop` waits for it.
   */
  start(path: string, onDone: () => void, onEnd: () => void): void {
    const worker = new Worker(new URL('./checkpoint-thread.ts', import.meta.url), {
      name: 'log-checkpoint',
      workerData: path,
    })
    this.#running = worker
    worker.once('message', (error: string | undefined) => {
      if (error === undefined) onDone()
    })
    // The caller retries: with the next segment, or at the next start.
    worker.once('error', () => {})
    worker.once('exit', () => {
      if (this.#running !== worker) return
      this.#running = undefined
      onEnd()
    })
  }

  /** Waits for the running checkpoint. */
  async stop(): Promise<void> {
    const running = this.#running
    this.#running = undefined
    if (running !== undefined) await new Promise((resolve) => running.once('exit', resolve))
  }
}
