/** Maximum of stored refusals; the oldest are deleted. */
const MAX_KNOWN = 1_000
const KEY_CHARACTERS = 4
const USER_AGENT_CHARACTERS = 200

/** A refused ingest request, without any of its payload. */
export interface RefusedRequest {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly route: string
  /** Status of the reason; the pixel itself gets 200. */
  readonly status: number
  readonly text: string
  /** Null if the write key is unknown or missing. */
  readonly sourceId: string | null
  /** The write key; only its start is stored. */
  readonly writeKey: string
  readonly address: string
  readonly userAgent: string
  /** Size of the body, from the header or as received. */
  readonly bytes: number
}

/** The form that routes show. */
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

  /** Refused after the first `count`, oldest first, as far as they are still known; and how many there were by now. */
  after(count: number): { readonly refusals: KnownRefusal[]; readonly count: number } {
    const added = Math.min(this.#count - count, MAX_KNOWN)
    return { refusals: added === 0 ? [] : this.#inOrder().slice(-added), count: this.#count }
  }

  /** Newest first. @param sourceId undefined: all sources. */
  list(sourceId?: string): KnownRefusal[] {
    const newest = this.#inOrder().reverse()
    return sourceId === undefined ? newest : newest.filter((each) => each.sourceId === sourceId)
  }

  #inOrder(): KnownRefusal[] {
    const oldest = this.#count % MAX_KNOWN
    return [...this.#known.slice(oldest), ...this.#known.slice(0, oldest)]
  }
}

/** The first characters, copied: a slice of a long text would keep all of it in memory. */
function copied(text: string, characters: number): string {
  return Buffer.from(text.slice(0, characters)).toString()
}
