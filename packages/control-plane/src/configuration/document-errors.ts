import { ApiError } from '@millrace/openapi'

/** Something in a document that cannot be. */
export interface DocumentError {
  /** JSON pointer into the document. */
  readonly path: string
  readonly message: string
}

/** A document with more is of another kind altogether; the rest is left out, and said to be. */
const MAX_ERRORS = 1_000
const CUT: DocumentError = { path: '', message: `has more than ${MAX_ERRORS} errors` }

/** What is wrong with a document: all of it, so that whoever wrote it mends it in one go. */
export class DocumentErrors {
  readonly #byPath = new Map<string, DocumentError>()
  #count = 0

  /** In the order in which they were found; of one place only the first. */
  get list(): DocumentError[] {
    return this.isFull ? [...this.#byPath.values(), CUT] : [...this.#byPath.values()]
  }

  get count(): number {
    return this.#count
  }

  /** Nothing more will be told: looking further would only take time. */
  get isFull(): boolean {
    return this.#count > MAX_ERRORS
  }

  add(path: string, message: string): void {
    if (this.#byPath.has(path)) return
    this.#count++
    if (this.#byPath.size < MAX_ERRORS) this.#byPath.set(path, { path, message })
  }

  /**
   * What a reader of requests gives, or undefined where it refuses: then that is an error of the document.
   *
   * @param path of what is read; a place inside a config comes behind it.
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

/** JSON pointer of a member. */
export function memberPath(path: string, member: string): string {
  return `${path}/${member.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
