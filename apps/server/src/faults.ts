import type { ServerLogger } from './logger.ts'

/** EX_SOFTWARE of sysexits.h: a supervisor then restarts the server. */
export const FAULT_EXIT_CODE = 70
/**
 * Time from a fault to the end: meanwhile /ready and /health show the reason, and requests in progress are answered.
 */
export const FAULT_GRACE_MS = 1_000

/** An internal fault: the process ends, and continues from the data on disk after a restart. */
export interface Fault {
  /** What ended or failed, as the beginning of a sentence. */
  readonly what: string
}

/**
 * One policy for internal faults: the end of a writing thread, an unhandled exception or rejection. It logs the first
 * fault with its cause; from then on the server accepts nothing, and the process must end with code 70.
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

  /** Faults that follow from the first one are not reported. */
  report(what: string, cause: unknown): void {
    if (this.#first !== undefined) {
      this.#logger.debug({ what, err: cause }, 'after a fault')
      return
    }
    this.#first = { what }
    this.#logger.fatal({ what, err: cause }, 'internal fault: the process ends')
    this.#happened.resolve(this.#first)
  }

  /** Reports every unhandled exception and rejection of the process, until the result is disposed. */
  watch(watched: NodeJS.Process): Disposable {
    // Node also passes unhandled rejections here.
    const report = (error: Error) => this.report('An unexpected error', error)
    watched.on('uncaughtException', report)
    return { [Symbol.dispose]: () => void watched.off('uncaughtException', report) }
  }
}

/** The last line of a process that ends after a fault. */
export function lastLine({ what }: Fault): string {
  return `Millrace ended: ${what[0]!.toLowerCase()}${what.slice(1)}. All acknowledged events are on disk; start it again.\n`
}
