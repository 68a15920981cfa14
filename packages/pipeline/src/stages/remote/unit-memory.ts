import type { RemoteAnswer, RemoteRequest } from '@millrace/destinations'

const MAX_UNITS = 1_000
const MAX_ANSWERS = 10
const MAX_ANSWER_CHARACTERS = 16 * 1024

/**
 * What a unit remembers between its attempts: how often it failed by a fault, and answers to requests that must not be sent
 * again. It is in memory: after a restart the requests of a unit are sent again.
 *
 * @see contracts/destination-catalog.md §9.1 [C49, D543]
 */
export class UnitMemory {
  faults = 0
  readonly #answers = new Map<string, RemoteAnswer>()

  /** The unit has ended. */
  forget(): void {
    this.#answers.clear()
  }

  answerTo(request: RemoteRequest): RemoteAnswer | undefined {
    return this.#answers.size === 0 ? undefined : this.#answers.get(keyOf(request))
  }

  keep(request: RemoteRequest, answer: RemoteAnswer): void {
    if ('noAnswer' in answer || answer.status < 200 || answer.status >= 300) return
    if (this.#answers.size >= MAX_ANSWERS || answer.body.length > MAX_ANSWER_CHARACTERS) return
    this.#answers.set(keyOf(request), answer)
  }
}

/** The memories of units that are to be tried again, by their place. Full, it forgets the least recently used. */
export class UnitMemories {
  readonly #memories = new Map<string, UnitMemory>()

  /** @param place of the event and the unit, unique in a destination. */
  of(place: string): UnitMemory {
    const memory = this.#memories.get(place) ?? new UnitMemory()
    this.#memories.delete(place)
    this.#memories.set(place, memory)
    const [oldest] = this.#memories.keys()
    if (this.#memories.size > MAX_UNITS) this.#memories.delete(oldest!)
    return memory
  }
}

function keyOf({ method, url, body }: RemoteRequest): string {
  return `${method} ${url} ${typeof body === 'string' ? body : Buffer.from(body).toString('base64')}`
}
