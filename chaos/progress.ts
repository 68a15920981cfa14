const PATIENCE_MS = 2_000
const STEP_MS = 500

/** One line on a terminal for what takes over two seconds, gone when it is over; elsewhere nothing. */
export class Progress implements Disposable {
  readonly #title: string
  readonly #startedAt = performance.now()
  readonly #timer: NodeJS.Timeout | undefined
  #what = ''
  #isShown = false

  constructor(title: string) {
    this.#title = title
    if (process.stderr.isTTY) this.#timer = setInterval(() => this.#show(), STEP_MS).unref()
  }

  say(what: string): void {
    this.#what = what
  }

  end(): void {
    clearInterval(this.#timer)
    if (this.#isShown) process.stderr.write('\r\u001b[K')
    this.#isShown = false
  }

  [Symbol.dispose](): void {
    this.end()
  }

  #show(): void {
    const tookMs = performance.now() - this.#startedAt
    if (tookMs < PATIENCE_MS) return
    this.#isShown = true
    const line = `${this.#title}, ${Math.floor(tookMs / 1_000)} s: ${this.#what}`
    process.stderr.write(`\r${line.slice(0, process.stderr.columns - 1)}\u001b[K`)
  }
}
