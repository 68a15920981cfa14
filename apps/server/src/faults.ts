import type { ServerLogger } from './logger.ts'

/** EX_SOFTWARE of sysexits.h: a supervisor starts the server again. */
export const FAULT_EXIT_CODE = 70
/** Of the end after a fault: as long /ready and /health say why, and requests in progress are answered. */
export const FAULT_GRACE_MS = 1_000

/** A fault of our own: the process ends, and goes on from what is on disk when it is started again. */
export interface Fault {
  /** What ended or went wrong, as the beginning of a sentence. */
  readonly what: string
}

/**
 * One policy for faults of our own: a thread that writes and ends, an exception or a rejection that nothing handles. The first
 * is logged with its cause; from then on nothing is accepted, and the process is to end with code 70.
 *
 * @see decision 0070
 */
export class Faults {
  readonly #logger: ServerLogger
  readonly #happened = Promise.withResolvers<Fault>()
  #first: Fault | undefined

  constructor(logger: ServerLogger) {
    this.#logger = logger
  }

  /** Resolves with the first fault. */
  get happened(): Promise<Fault> {
    return this.#happened.promise
  }

  get first(): Fault | undefined {
    return this.#first
  }

  /** What follows from the first fault is no news. */
  report(what: string, cause: unknown): void {
    if (this.#first !== undefined) {
      this.#logger.debug({ what, err: cause }, 'after a fault')
      return
    }
    this.#first = { what }
    this.#logger.fatal({ what, err: cause }, 'internal fault: the process ends')
    this.#happened.resolve(this.#first)
  }

  /** Has every exception and rejection of a process that nothing handles reported, until the result is disposed of. */
  watch(watched: NodeJS.Process): Disposable {
    // Node hands over unhandled rejections here as well.
    const report = (error: Error) => this.report('An unexpected error', error)
    watched.on('uncaughtException', report)
    return { [Symbol.dispose]: () => void watched.off('uncaughtException', report) }
  }
}

/** The last line of a process that ends so. */
export function lastLine({ what }: Fault): string {
  return `Millrace ended: ${what[0]!.toLowerCase()}${what.slice(1)}. All acknowledged events are on disk; start it again.\n`
}
