import { IDLE_SANDBOX_MS } from '../limits.ts'
import type { Worker } from './worker.ts'

interface EntryPoint {
  readonly key: string
  readonly worker: Worker
  bytes: number
  /** On the monotonic clock. */
  lastUsed: number
  /** A run is at it, computing or waiting. */
  isBusy: boolean
}

/**
 * Which sandboxes are alive, where, and how large they were after their last run. Least recently used first; it says
 * which to close, and closes them.
 */
export class SandboxRegistry {
  readonly #maxSandboxes: number
  readonly #maxBytes: number
  readonly #entries = new Map<string, EntryPoint>()
  #bytes = 0

  constructor(maxSandboxes: number, maxBytes: number) {
    this.#maxSandboxes = maxSandboxes
    this.#maxBytes = maxBytes
  }

  get size(): number {
    return this.#entries.size
  }

  workerOf(key: string): Worker | undefined {
    return this.#entries.get(key)?.worker
  }

  /** A run is about to use the sandbox: it is made, or found, in this worker. */
  begin(key: string, worker: Worker, now: number): void {
    const known = this.#entries.get(key)
    if (known !== undefined && known.worker !== worker) this.close(key)
    const entry = known?.worker === worker ? known : { key, worker, bytes: 0, lastUsed: now, isBusy: true }
    entry.isBusy = true
    entry.lastUsed = now
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    if (entry !== known) worker.sandboxes++
    this.#shrink()
  }

  /** @param bytes 0 when the sandbox was closed. */
  end(key: string, worker: Worker, bytes: number, now: number): void {
    const entry = this.#entries.get(key)
    if (entry === undefined || entry.worker !== worker) return
    if (bytes === 0) {
      this.#forget(entry)
      return
    }
    this.#bytes += bytes - entry.bytes
    entry.bytes = bytes
    entry.isBusy = false
    entry.lastUsed = now
    this.#shrink()
  }

  close(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#forget(entry)
    entry.worker.tell({ kind: 'close', key })
  }

  closeIdle(now: number): void {
    for (const { key, isBusy, lastUsed } of [...this.#entries.values()]) {
      if (!isBusy && now - lastUsed >= IDLE_SANDBOX_MS) this.close(key)
    }
  }

  /** The worker's child is gone, and its sandboxes with it. */
  lost(worker: Worker): void {
    for (const entry of [...this.#entries.values()]) if (entry.worker === worker) this.#forget(entry)
  }

  #shrink(): void {
    for (const { key, isBusy } of this.#entries.values()) {
      if (this.#entries.size <= this.#maxSandboxes && this.#bytes <= this.#maxBytes) return
      if (!isBusy) this.close(key)
    }
  }

  #forget(entry: EntryPoint): void {
    this.#entries.delete(entry.key)
    this.#bytes -= entry.bytes
    entry.worker.sandboxes--
  }
}
