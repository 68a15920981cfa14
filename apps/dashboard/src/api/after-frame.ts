/** Maximum wait for a frame. */
const MAX_MS = 100

/** Resolves when the next frame is on the screen; without frames, as in a hidden tab, after the maximum wait. */
export function afterFrame(): Promise<void> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve))
    setTimeout(resolve, MAX_MS)
  })
}
