/** How many are known; older ones go. */
const MAX_KNOWN = 1_000
const KEY_CHARACTERS = 4
const USER_AGENT_CHARACTERS = 200

/** A refused ingest request as it was noted: nothing of its payload. */
export interface RefusedRequest {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly route: string
  /** Of the reason: a pixel itself is answered 200. */
  readonly status: number
  readonly text: string
  /** Null where the write key was of no source, or none was found. */
  readonly sourceId: string | null
  /** The write key; of it only the start is kept. */
  readonly writeKey: string
  readonly address: string
  readonly userAgent: string
  /** Of the body, as the header says or as they came. */
  readonly bytes: number
}

/** As it is shown. */
export type KnownRefusal = Omit<RefusedRequest, 'writeKey'> & { readonly keyStart: string }

/**
 * The last 1,000 ingest requests that were refused, in memory.
 *
 * @see contracts/dashboard.md §4 N5
 */
export class RefusalBook {
  readonly #known: KnownRefusal[] = []
  #count = 0

  note({ writeKey, userAgent, ...rest }: RefusedRequest): void {
    this.#known[this.#count++ % MAX_KNOWN] = {
      ...rest,
      keyStart: copied(writeKey, KEY_CHARACTERS),
      userAgent: copied(userAgent, USER_AGENT_CHARACTERS),
    }
  }

  /** Newest first. @param sourceId all if it is left out. */
  list(sourceId?: string): KnownRefusal[] {
    const newest = this.#count % MAX_KNOWN
    const inOrder = [...this.#known.slice(newest), ...this.#known.slice(0, newest)].reverse()
    return sourceId === undefined ? inOrder : inOrder.filter((each) => each.sourceId === sourceId)
  }
}

/** The first characters as a text of their own: a part of a long one would keep all of it in memory. */
function copied(text: string, characters: number): string {
  return Buffer.from(text.slice(0, characters)).toString()
}
