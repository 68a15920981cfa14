/** How many of the late ones are kept by name. */
const KEPT = 1_000
const FIRST_SIZE = 64

interface User {
  /** How often each number came; 255 means at least so often. */
  times: Uint8Array
  latest: number
}

/**
 * What came to one destination, a byte per event. A messageId is `<user>.<number>`, and the numbers of a user rise in the order
 * of sending.
 */
export class Arrivals {
  /** Events, each counted once. */
  events = 0
  /** Deliveries of events that had come before. */
  repeats = 0
  /** First arrivals that came after one of a later event of the same user. */
  outOfOrder = 0
  readonly late: string[] = []
  readonly #users = new Map<string, User>()

  note(messageId: string): void {
    const [name, number] = split(messageId)
    const user = this.#users.get(name) ?? { times: new Uint8Array(FIRST_SIZE), latest: -1 }
    this.#users.set(name, user)
    if (number >= user.times.length) {
      const grown = new Uint8Array(2 * Math.max(number, user.times.length))
      grown.set(user.times)
      user.times = grown
    }
    if (user.times[number]! > 0) {
      user.times[number] = Math.min(255, user.times[number]! + 1)
      this.repeats++
      return
    }
    user.times[number] = 1
    this.events++
    if (number < user.latest) this.#noteLate(messageId)
    else user.latest = number
  }

  times(messageId: string): number {
    const [name, number] = split(messageId)
    return this.#users.get(name)?.times[number] ?? 0
  }

  missing(messageIds: readonly string[]): number {
    return messageIds.reduce((count, each) => count + (this.times(each) === 0 ? 1 : 0), 0)
  }

  hasAll(messageIds: readonly string[]): boolean {
    return messageIds.every((each) => this.times(each) > 0)
  }

  /** messageIds that came more than once. */
  repeated(): string[] {
    return [...this.#users].flatMap(([name, { times }]) =>
      [...times.entries()].flatMap(([number, count]) => (count > 1 ? [`${name}.${number}`] : [])),
    )
  }

  #noteLate(messageId: string): void {
    this.outOfOrder++
    if (this.late.length < KEPT) this.late.push(messageId)
  }
}

function split(messageId: string): [user: string, number: number] {
  const dot = messageId.lastIndexOf('.')
  return [messageId.slice(0, dot), Number(messageId.slice(dot + 1))]
}
