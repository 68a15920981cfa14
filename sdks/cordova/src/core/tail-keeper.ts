/** Keeps the engine supplied with the event that it stores when the app leaves the foreground. @see BRIDGE.md "tail" */
export class TailKeeper {
  private readonly tailNow: () => string | null
  private readonly give: (tail: string | null) => void
  private given: string | null = null
  private isDue = false

  /** @param tailNow null when there is to be none. @param give hands it to the engine. */
  constructor(tailNow: () => string | null, give: (tail: string | null) => void) {
    this.tailNow = tailNow
    this.give = give
  }

  /** Something that it shows may have changed. Looked at once a turn, and only a new one is given. */
  renew(): void {
    if (this.isDue) return
    this.isDue = true
    // A microtask, so that all calls of one turn make one tail.
    void Promise.resolve().then(() => {
      this.isDue = false
      const tail = this.tailNow()
      if (tail === this.given) return
      this.given = tail
      this.give(tail)
    })
  }

  /** The engine has used it. */
  used(): void {
    this.given = null
  }
}
