/** What user code asks the server to fetch. */
export interface TransformRequest {
  /** Text as given, not judged yet. */
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Less than FETCH_TIMEOUT_MS, where the code wants to wait for less. */
  readonly timeoutMs?: number
}

export type TransformAnswer =
  | {
      readonly ok: true
      /** After redirects. */
      readonly url: string
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    }
  /** `message`: a text of contracts/transformations.md §4, or what went wrong. */
  | { readonly ok: false; readonly message: string }

/**
 * Does a request of user code: judges its address, follows redirects, bounds time (FETCH_TIMEOUT_MS) and size
 * (MAX_FETCH_ANSWER_BYTES). Never rejects.
 *
 * @param signal aborted when the run is over.
 * @param key of the run: requests of one destination's code must not hold up those of another's.
 */
export type TransformFetch = (request: TransformRequest, signal: AbortSignal, key?: string) => Promise<TransformAnswer>
