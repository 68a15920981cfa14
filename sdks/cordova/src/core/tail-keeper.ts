/**
 * Keeps the engine supplied with the event that it stores when the app leaves the foreground. @see BRIDGE.md "tail"
 *
 * @param tailNow null when there is to be none. @param give hands it to the engine.
 */
export function newTailKeeper(tailNow: () => string | null, give: (tail: string | null) => void) {
  let given: string | null = null
  let isDue = false
  return {
    /** Something that it shows may have changed. Looked at once a turn, and only a new one is given. */
    renew() {
      if (isDue) return
      isDue = true
      // A microtask, so that all calls of one turn make one tail.
      void Promise.resolve().then(() => {
        isDue = false
        const tail = tailNow()
        if (tail !== given) give(tail)
        given = tail
      })
    },
    /** The engine has used it. */
    used() {
      given = null
    },
  }
}
