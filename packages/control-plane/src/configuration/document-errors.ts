import { ApiError } from '@millrace/openapi'

/** An error in a document. */
export interface DocumentError {
  /** JSON pointer into the document. */
  readonly path: string
  readonly message: string
}

/** A document with more errors is not a configuration; further errors are omitted, and the list says so. */
const MAX_ERRORS = 1_000
const CUT: DocumentError = { path: '', message: `has more than ${MAX_ERRORS} errors` }

/** Collects all errors of a document, so its author can correct them at once. */
export class DocumentErrors {
  readonly #byPath = new Map<string, DocumentError>()
  #count = 0

  /** In the order of discovery; only the first for each place. */
  get list(): DocumentError[] {
    return this.isFull ? [...this.#byPath.values(), CUT] : [...this.#byPath.values()]
  }

  get count(): number {
    return this.#count
  }

  /** The list is full: further checks would only take time. */
  get isFull(): boolean {
    return this.#count > MAX_ERRORS
  }

  add(path: string, message: string): void {
    if (this.#byPath.has(path)) return
    this.#count++
    if (this.#byPath.size < MAX_ERRORS) this.#byPath.set(path, { path, message })
  }

  /**
   * Runs a reader of requests; undefined if it refuses, which adds an error to the document.
   *
   * @param path of the value; a place inside a config is appended.
   */
  at<T>(path: string, read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const { path: inside, message } = error.details ?? {}
      if (typeof inside === 'string') this.add(path + inside, String(message))
      else this.add(path, error.message)
      return undefined
    }
  }
}
