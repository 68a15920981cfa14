/** What is waited at most for a frame. */
const MAX_MS = 100

/** Resolves once the frame that is being made is on the screen; where none comes, as in a tab that nobody looks at, soon. */
export function afterFrame(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve))
    setTimeout(resolve, MAX_MS)
  })
}
