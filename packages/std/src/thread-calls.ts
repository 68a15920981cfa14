import { type MessagePort, parentPort, type Transferable, Worker } from 'node:worker_threads'
import { ReleasingMap } from './releasing-map.ts'

/** The functions that a thread offers: name → (argument) → result. Arguments and results cross by structured clone. */
// biome-ignore lint/suspicious/noExplicitAny: the map of a thread names its own arguments and results
export type CallMap = Record<string, (argument: any) => any>

type Argument<Calls extends CallMap, Name extends keyof Calls> = Parameters<Calls[Name]>[0]
/** What a call of a thread resolves with. */
export type CallResult<Calls extends CallMap, Name extends keyof Calls> =
  Awaited<ReturnType<Calls[Name]>> extends Transferred<infer T> ? T : Awaited<ReturnType<Calls[Name]>>

type Request = { id: number; name: string; argument: unknown }
type Answer = { id: number; result: unknown } | { id: number; error: CrossedError } | { id: 0; notice: unknown }
type CrossedError = { message: string; code: string | undefined; stack: string | undefined }

/** Calls that wait for their answers from another thread. They come in the order of the calls. */
class Waiting<Calls extends CallMap> {
  readonly #calls = new ReleasingMap<number, { resolve: (result: never) => void; reject: (error: Error) => void }>()
  readonly #post: (request: Request, transfer: readonly Transferable[]) => void
  #lastId = 0
  #ended: Error | undefined

  constructor(post: (request: Request, transfer: readonly Transferable[]) => void) {
    this.#post = post
  }

  call<Name extends keyof Calls & string>(
    name: Name,
    argument: Argument<Calls, Name>,
    transfer: readonly Transferable[],
  ): Promise<CallResult<Calls, Name>> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#calls.add(id, { resolve, reject })
      this.#post({ id, name, argument }, transfer)
    })
  }

  settle(answer: Exclude<Answer, { notice: unknown }>): void {
    const call = this.#calls.take(answer.id)
    if ('error' in answer) call?.reject(new CalledThreadError(answer.error))
    else call?.resolve(answer.result as never)
  }

  /** Rejects these calls and all that follow. @returns whether it was the first end. */
  end(error: Error): boolean {
    if (this.#ended !== undefined) return false
    this.#ended = error
    for (const { reject } of this.#calls.takeAll()) reject(error)
    return true
  }
}

/** The caller's end: functions of a worker thread, called as if they were here. */
export class ThreadCalls<Calls extends CallMap, Notice = never> {
  readonly #worker: Worker
  readonly #waiting: Waiting<Calls>

  /**
   * @param transfer what of `data` moves to the thread, such as ports.
   * @param youngMemoryMb bound on the thread's young objects, for one whose work leaves nothing behind.
   * @param onNotice what the thread says unasked.
   * @param onEnd called once if the thread ends although nobody stopped it.
   */
  constructor(options: {
    file: URL
    name: string
    data: unknown
    transfer?: readonly Transferable[]
    youngMemoryMb?: number
    onNotice?: (notice: Notice) => void
    onEnd?: (error: Error) => void
  }) {
    const { file, name, data: workerData, transfer: transferList = [], youngMemoryMb } = options
    const resourceLimits = youngMemoryMb === undefined ? {} : { maxYoungGenerationSizeMb: youngMemoryMb }
    this.#worker = new Worker(file, { name, workerData, transferList: [...transferList], resourceLimits })
    this.#waiting = new Waiting((request, transfer) => this.#worker.postMessage(request, transfer))
    this.#worker.on('message', (answer: Answer) => {
      if ('notice' in answer) options.onNotice?.(answer.notice as Notice)
      else this.#waiting.settle(answer)
    })
    const end = (cause: unknown) => {
      const error = new ThreadEndedError(`thread ${options.name} ended`, { cause })
      if (this.#waiting.end(error)) options.onEnd?.(error)
    }
    this.#worker.on('error', end)
    this.#worker.on('exit', end)
  }

  /** @throws ThreadEndedError when the thread is gone; else what the function itself throws, with its `code`. */
  call<Name extends keyof Calls & string>(
    name: Name,
    argument: Argument<Calls, Name>,
    transfer: readonly Transferable[] = [],
  ): Promise<CallResult<Calls, Name>> {
    return this.#waiting.call(name, argument, transfer)
  }

  /** Ends the thread at once; calls still waiting are rejected. */
  async stop(): Promise<void> {
    this.#waiting.end(new ThreadEndedError('thread was stopped'))
    await this.#worker.terminate()
  }
}

/** The caller's end of a port that another thread answers. */
export class PortCalls<Calls extends CallMap> {
  readonly #waiting: Waiting<Calls>

  /** @param onEnd called once when nobody answers any more. */
  constructor(port: MessagePort, onEnd: (error: Error) => void) {
    this.#waiting = new Waiting((request, transfer) => port.postMessage(request, [...transfer]))
    port.on('message', (answer: Exclude<Answer, { notice: unknown }>) => this.#waiting.settle(answer))
    port.on('close', () => {
      const error = new ThreadEndedError('the other end of a port is gone')
      if (this.#waiting.end(error)) onEnd(error)
    })
  }

  /** @throws ThreadEndedError when nobody answers any more; else what the function itself throws, with its `code`. */
  call<Name extends keyof Calls & string>(
    name: Name,
    argument: Argument<Calls, Name>,
    transfer: readonly Transferable[] = [],
  ): Promise<CallResult<Calls, Name>> {
    return this.#waiting.call(name, argument, transfer)
  }
}

/**
 * The thread's end: answers calls one after the other, in the order in which they came.
 *
 * @param port from which they come; if it is left out, from the thread that started this one.
 * @param order `as they come`: each call starts at once, and its answer leaves when it is ready.
 */
export function answerCalls<Calls extends CallMap>(
  functions: Calls,
  port: MessagePort = parentPort!,
  order: 'one by one' | 'as they come' = 'one by one',
): void {
  let last: Promise<void> = Promise.resolve()
  port.on('message', ({ id, name, argument }: Request) => {
    const before = order === 'one by one' ? last : undefined
    last = before === undefined ? answer(id, name, argument) : before.then(() => answer(id, name, argument))
  })

  async function answer(id: number, name: string, argument: unknown): Promise<void> {
    try {
      const result = await functions[name]!(argument)
      if (result instanceof Transferred) port.postMessage({ id, result: result.value }, result.list)
      else port.postMessage({ id, result })
    } catch (thrown) {
      const error = thrown as NodeJS.ErrnoException
      port.postMessage({ id, error: { message: error.message, code: error.code, stack: error.stack } })
    }
  }
}

/** Says something unasked to the caller's end. */
export function notifyCaller(notice: unknown): void {
  parentPort!.postMessage({ id: 0, notice })
}

/** A result whose buffers move to the caller instead of being copied. */
export class Transferred<T> {
  readonly value: T
  readonly list: Transferable[]

  constructor(value: T, list: Transferable[]) {
    this.value = value
    this.list = list
  }
}

export class ThreadEndedError extends Error {
  override name = 'ThreadEndedError'
  readonly code = 'THREAD_ENDED'
}

/** An error thrown inside the thread; `code` and `stack` are those of the original. */
export class CalledThreadError extends Error {
  override name = 'CalledThreadError'
  readonly code: string | undefined

  constructor(original: CrossedError) {
    super(original.message)
    this.code = original.code
    if (original.stack !== undefined) this.stack = original.stack
  }
}
