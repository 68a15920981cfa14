import {
  MAX_FETCH_REQUEST_BYTES,
  MAX_FETCHES_PER_EVENT,
  MAX_LOG_LINE_BYTES,
  MAX_LOG_LINES,
  MAX_OPEN_FETCH_BYTES,
} from '../limits.ts'
import { failureText } from './failure-text.ts'
import type { HostCall } from './realm/run-program.ts'
import { webCall } from './web-calls.ts'

/** A request that is not handed over yet. */
export interface PendingFetch {
  readonly id: number
  /** TransformRequest as JSON. */
  readonly text: string
}

/** What one run may ask of its deps, and what it has asked. */
export class RunDeps {
  readonly logs: string[] = []
  /** Which step logged each line: parallel to the lines. */
  readonly loggedBy: number[] = []
  /** Whose code logged each line, as number of the event in the run; null where that of several was under way. */
  readonly loggedFor: (number | null)[] = []
  /** The one that runs. */
  step = 0
  /** The one whose code runs; null while nobody can tell. */
  event: number | null
  #fetches: PendingFetch[] = []
  /** Requests of the current step without an answer, and the bytes of each. */
  readonly #open = new Map<number, number>()
  #openBytes = 0
  readonly #captureLogs: boolean
  readonly #credentials: ReadonlyMap<string, string>
  readonly #maxFetches: number
  #fetchCount = 0

  constructor(captureLogs: boolean, credentials: ReadonlyMap<string, string>, events: number) {
    this.#captureLogs = captureLogs
    this.#credentials = credentials
    this.#maxFetches = MAX_FETCHES_PER_EVENT * events
    this.event = events === 1 ? 0 : null
  }

  get wantsLogs(): boolean {
    return this.#captureLogs && this.logs.length < MAX_LOG_LINES
  }

  log(line: string): void {
    if (!this.wantsLogs) return
    this.logs.push(firstBytes(line, MAX_LOG_LINE_BYTES))
    this.loggedBy.push(this.step)
    this.loggedFor.push(this.event)
  }

  credential(key: string): string | undefined {
    return this.#credentials.get(key)
  }

  /**
   * @param text TransformRequest as JSON.
   * @returns the number under which the answer will come, or `!` and why there will be none.
   */
  fetch(text: string): string {
    const bytes = Buffer.byteLength(text)
    if (bytes > MAX_FETCH_REQUEST_BYTES) return '!request is larger than 1 MB'
    const openBytes = this.#openBytes + bytes
    if (this.#fetchCount === this.#maxFetches || openBytes > MAX_OPEN_FETCH_BYTES) return '!too many fetch calls'
    const id = ++this.#fetchCount
    this.#fetches.push({ id, text })
    this.#open.set(id, bytes)
    this.#openBytes = openBytes
    return String(id)
  }

  get openFetches(): number {
    return this.#open.size
  }

  takeFetches(): readonly PendingFetch[] {
    const taken = this.#fetches
    this.#fetches = []
    return taken
  }

  /** An answer has come. @returns whether somebody still waits for it. */
  isAnswered(id: number): boolean {
    this.#openBytes -= this.#open.get(id) ?? 0
    return this.#open.delete(id)
  }

  /** Nobody waits for what the step has left open. */
  forgetFetches(): void {
    this.#fetches = []
    this.#open.clear()
    this.#openBytes = 0
  }
}

/**
 * The one function that a sandbox can call. It belongs to the run that the sandbox is at; between runs it answers
 * nothing but what needs no run.
 */
export function hostCalls(current: () => RunDeps | undefined): HostCall {
  return (operation, ...given) => {
    try {
      const texts = given.map(String)
      const [first = '', second = '', third = ''] = texts
      switch (operation) {
        case 'failure':
          return failureText(first, second, third)
        case 'wants logs':
          return current()?.wantsLogs ? 'yes' : undefined
        case 'event': {
          const deps = current()
          if (deps !== undefined) deps.event = first === '' ? null : Number(first)
          return undefined
        }
        case 'log':
          current()?.log(first)
          return undefined
        case 'credential':
          return current()?.credential(first)
        case 'fetch':
          return current()?.fetch(first)
        default:
          return webCall(operation, texts)
      }
    } catch {
      // Whatever went wrong here stays here: no object of this process crosses.
      return undefined
    }
  }
}

function firstBytes(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text
  const bytes = Buffer.from(text.slice(0, maxBytes))
  if (bytes.length <= maxBytes) return text.slice(0, maxBytes)
  // As of a stream that goes on: a character that is cut in two is left out.
  return new TextDecoder().decode(bytes.subarray(0, maxBytes), { stream: true })
}
