import { type Clock, Queue, ReleasingMap } from '@millrace/std'
import type { CapturedRequest, GuestRun, MappingEnd, ToHost } from '../messages.ts'
import { GuestThread, type GuestThreadOptions } from './guest-thread.ts'

const MAX_RUNNING = 64
const MAX_OF_DESTINATION = 16
const MAX_WAITING = 1_000
const IDLE_MS = 10 * 60_000
/** Added to the deadline of the first run of an entry in a thread, which loads its code. */
const LOADING_MS = 5_000

/** The answer of a service, or the text that says why there is none. */
export type HostAnswer =
  | {
      readonly status: number
      readonly statusText: string
      readonly headers: Record<string, string>
      readonly body: string
    }
  | { readonly noAnswer: string }

/** A run for the guest, and the handler of its requests. */
export interface GuestWork {
  readonly run: Omit<GuestRun, 't' | 'id'>
  readonly deadlineMs: number
  send(request: CapturedRequest): Promise<HostAnswer>
  /** Called when the run ends before its code does. */
  onLate(): void
}

export type GuestEnd =
  | { readonly kind: 'ends'; readonly ends: readonly MappingEnd[] }
  | { readonly kind: 'late' }
  /** Too much is running or waiting, the thread does not start, or the runs were stopped. The run did not fail. */
  | { readonly kind: 'busy' }
  /** The thread ended by itself, or was stopped because it did not answer. */
  | { readonly kind: 'lost'; readonly hasSent: boolean }

interface Running {
  readonly id: number
  readonly work: GuestWork
  readonly end: (end: GuestEnd) => void
  hasSent: boolean
  deadline: { cancel(): void } | undefined
}

export interface GuestRunsOptions extends GuestThreadOptions {
  readonly clock: Clock
  readonly onBlocked: (slug: string, what: string) => void
}

/** The runs of one worker thread. The thread starts with the first run, and stops after ten minutes without one. */
export class GuestRuns {
  readonly #options: GuestRunsOptions
  readonly #running = new ReleasingMap<number, Running>()
  readonly #waiting = new Queue<Running>()
  /** Entries that the thread has run. */
  readonly #loaded = new Set<string>()
  #thread: GuestThread | undefined
  #idle: { cancel(): void } | undefined
  #isStopped = false
  #lastId = 0

  constructor(options: GuestRunsOptions) {
    this.#options = options
  }

  /** Nothing is running or waiting. */
  get isIdle(): boolean {
    return this.#running.size === 0 && this.#waiting.length === 0
  }

  /** Never rejects. */
  run(work: GuestWork): Promise<GuestEnd> {
    const { promise, resolve } = Promise.withResolvers<GuestEnd>()
    const running: Running = { id: ++this.#lastId, work, end: resolve, hasSent: false, deadline: undefined }
    if (this.#isStopped || this.#waiting.length >= MAX_WAITING) resolve({ kind: 'busy' })
    else {
      this.#waiting.addLast(running)
      void this.#pump()
    }
    return promise
  }

  /** Stops the thread for good. Runs that have not ended, and later ones, end as `busy`. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#idle?.cancel()
    const thread = this.#thread
    this.#thread = undefined
    this.#endRunning(() => ({ kind: 'busy' }))
    this.#endWaiting()
    await thread?.stop()
  }

  async #pump(): Promise<void> {
    this.#idle?.cancel()
    let thread: GuestThread
    try {
      thread = this.#started()
    } catch (error) {
      this.#notStarted((error as Error).message)
      return
    }
    await thread.ready
    const held: Running[] = []
    while (this.#running.size < MAX_RUNNING && this.#thread === thread) {
      const next = this.#waiting.takeFirst()
      if (next === undefined) break
      if (this.#countOf(next.work.run.destinationId) >= MAX_OF_DESTINATION) held.push(next)
      else this.#begin(thread, next)
    }
    for (const each of held.reverse()) this.#waiting.addFirst(each)
  }

  #started(): GuestThread {
    if (this.#thread !== undefined) return this.#thread
    this.#loaded.clear()
    // A thread that was stopped ends later, when its successor may already run.
    const thread: GuestThread = new GuestThread(
      this.#options,
      (message) => {
        if (this.#thread === thread) this.#take(message)
      },
      (cause, hasStarted) => {
        if (this.#thread === thread) this.#threadEnded(cause, hasStarted)
      },
    )
    this.#thread = thread
    return thread
  }

  #begin(thread: GuestThread, running: Running): void {
    const { work, id } = running
    this.#running.add(id, running)
    running.deadline = this.#options.clock.setTimer(() => {
      thread.post({ t: 'cancel', id })
      work.onLate()
      this.#finish(running, { kind: 'late' })
    }, this.#deadlineMs(work))
    thread.watch()
    thread.post({ t: 'run', id, ...work.run })
  }

  #deadlineMs({ run: { slug }, deadlineMs }: GuestWork): number {
    if (this.#loaded.has(slug)) return deadlineMs
    this.#loaded.add(slug)
    return deadlineMs + LOADING_MS
  }

  #take(message: Exclude<ToHost, { t: 'ready' } | { t: 'pong' }>): void {
    if (message.t === 'blocked') {
      this.#options.onBlocked(message.slug, message.what)
      return
    }
    const running = this.#running.get(message.t === 'done' ? message.id : message.run)
    if (running === undefined) return
    if (message.t === 'done') this.#finish(running, { kind: 'ends', ends: message.ends })
    else void this.#send(running, message)
  }

  async #send(running: Running, { run, seq, request }: Extract<ToHost, { t: 'request' }>): Promise<void> {
    running.hasSent = true
    const answer = await running.work.send(request)
    if ('noAnswer' in answer) this.#thread?.post({ t: 'failure', run, seq, text: answer.noAnswer })
    else this.#thread?.post({ t: 'answer', run, seq, ...answer })
  }

  #finish(running: Running, end: GuestEnd): void {
    running.deadline?.cancel()
    this.#running.take(running.id)
    running.end(end)
    if (this.#waiting.length > 0) void this.#pump()
    else if (this.#running.size === 0) this.#rest()
  }

  #rest(): void {
    this.#thread?.unwatch()
    this.#idle?.cancel()
    this.#idle = this.#options.clock.setTimer(() => {
      const thread = this.#thread
      this.#thread = undefined
      void thread?.stop()
    }, IDLE_MS)
  }

  #threadEnded(cause: string, hasStarted: boolean): void {
    this.#thread = undefined
    this.#endRunning(({ hasSent }) => ({ kind: 'lost', hasSent }))
    if (!hasStarted) this.#notStarted(cause)
    else if (this.#waiting.length > 0) void this.#pump()
  }

  /** Another thread would fail as well: the next one starts when a run is tried again. */
  #notStarted(cause: string): void {
    this.#options.logger.warn({ cause }, 'the worker of the destination catalog did not start')
    this.#endWaiting()
  }

  #endWaiting(): void {
    for (let next = this.#waiting.takeFirst(); next !== undefined; next = this.#waiting.takeFirst()) {
      next.end({ kind: 'busy' })
    }
  }

  #endRunning(endOf: (running: Running) => GuestEnd): void {
    for (const running of this.#running.takeAll()) {
      running.deadline?.cancel()
      running.work.onLate()
      running.end(endOf(running))
    }
  }

  #countOf(destinationId: string): number {
    let count = 0
    for (const { work } of this.#running.values()) if (work.run.destinationId === destinationId) count++
    return count
  }
}
