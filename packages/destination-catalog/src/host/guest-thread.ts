import { getCompileCacheDir } from 'node:module'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import type { Clock } from '@millrace/std'
import type { ToGuest, ToHost } from '../messages.ts'

const PING_EVERY_MS = 250
/** 2 s: the server's own thread has looked for an answer that often. */
const MAX_UNANSWERED_PINGS = 8
const START_LIMIT_MS = 30_000
const LOGGED_BYTES_PER_MINUTE = 8 * 1024
const MINUTE_MS = 60_000

export interface GuestThreadOptions {
  readonly clock: Clock
  readonly memoryMb: number
  /** The installed packages: the only files that the thread may read. */
  readonly packagesFolder: string
  /** Replaces the program of the thread. */
  readonly program?: URL
  readonly logger: { debug(fields: object, text: string): void; warn(fields: object, text: string): void }
}

/** A worker thread with nothing: no environment, no arguments, no network. It is stopped when it does not answer. */
export class GuestThread {
  readonly #options: GuestThreadOptions
  readonly #worker: Worker
  readonly #ready = Promise.withResolvers<void>()
  readonly #outgoing: ToGuest[] = []
  #unanswered = 0
  #heartbeat: { cancel(): void } | undefined
  #isReady = false
  #hasEnded = false

  constructor(
    options: GuestThreadOptions,
    onMessage: (message: Exclude<ToHost, { t: 'ready' } | { t: 'pong' }>) => void,
    onEnd: (cause: string, hasStarted: boolean) => void,
  ) {
    const { clock, memoryMb, packagesFolder, program, logger } = options
    this.#options = options
    this.#worker = new Worker(program ?? new URL('../guest/worker.ts', import.meta.url), {
      name: 'destination catalog',
      env: codeFolder(),
      argv: [],
      stdin: false,
      stdout: true,
      stderr: true,
      workerData: { packagesFolder },
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    })
    for (const stream of [this.#worker.stdout, this.#worker.stderr]) logLines(stream, clock, logger)
    this.#worker.on('message', (messages: readonly ToHost[]) => {
      for (const message of messages) {
        if (message.t === 'ready') {
          this.#isReady = true
          this.#ready.resolve()
        } else if (message.t === 'pong') this.#unanswered = 0
        else onMessage(message)
      }
    })
    const end = (cause: string) => {
      if (this.#hasEnded) return
      this.#hasEnded = true
      this.#heartbeat?.cancel()
      limit.cancel()
      this.#ready.resolve()
      onEnd(cause, this.#isReady)
    }
    this.#worker.on('error', (error: Error) => end(error.message))
    this.#worker.on('exit', () => end('ended'))
    const limit = clock.setTimer(() => {
      if (!this.#isReady) this.#kill('did not start')
    }, START_LIMIT_MS)
  }

  /** Resolves when it can take runs, or has ended. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  post(message: ToGuest): void {
    if (this.#outgoing.push(message) === 1) setImmediate(() => this.#flush())
  }

  #flush(): void {
    const messages = this.#outgoing.splice(0)
    if (!this.#hasEnded) this.#worker.postMessage(messages)
  }

  /** Asks it for signs of life from here on. */
  watch(): void {
    if (this.#heartbeat !== undefined) return
    this.#unanswered = 0
    const beat = () => {
      if (this.#unanswered++ >= MAX_UNANSWERED_PINGS) {
        this.#kill('did not answer')
        return
      }
      this.post({ t: 'ping' })
      this.#heartbeat = this.#options.clock.setTimer(beat, PING_EVERY_MS)
    }
    beat()
  }

  unwatch(): void {
    this.#heartbeat?.cancel()
    this.#heartbeat = undefined
  }

  async stop(): Promise<void> {
    this.unwatch()
    await this.#worker.terminate()
  }

  #kill(cause: string): void {
    this.#options.logger.warn({ cause }, 'the worker of the destination catalog is stopped')
    this.unwatch()
    void this.#worker.terminate()
  }
}

/** Tells Node where the server keeps compiled code, if it keeps any. The thread takes it out of its environment. */
function codeFolder(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir()
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: path.dirname(folder) }
}

/** What the code of the packages prints goes to the log; a bound keeps it from filling the disk. */
function logLines(stream: Readable, clock: Clock, logger: GuestThreadOptions['logger']): void {
  let [minute, bytes] = [0, 0]
  stream.setEncoding('utf8').on('data', (text: string) => {
    const now = Math.floor(clock.now() / MINUTE_MS)
    if (now !== minute) [minute, bytes] = [now, 0]
    bytes += text.length
    if (bytes <= LOGGED_BYTES_PER_MINUTE) logger.debug({ text: text.trimEnd() }, 'destination catalog')
  })
}
