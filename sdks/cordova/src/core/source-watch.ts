import type { Bridge } from './bridge.ts'
import type { Clock } from './clock.ts'
import { parsedJson } from './parsed-json.ts'

/** What is kept of the last good source configuration, as JSON under the state key `source`. */
export interface SourceCopy {
  readonly enabled: boolean
  readonly etag?: string
  /** ISO time at which it was last confirmed. */
  readonly at: string
}

export interface SourceWatchOptions {
  readonly bridge: Bridge
  readonly clock: Clock
  readonly refreshMs: number
  readonly onCopy: (copy: SourceCopy) => void
  readonly onRejected: (status: number) => void
}

const WAITS_MS = [2_000, 4_000]

/**
 * Fetches the configuration of the source, and again when it is `refreshMs` old.
 * @see contracts/cordova-sdk.md §17
 */
export class SourceWatch {
  copy: SourceCopy | undefined
  private readonly options: SourceWatchOptions
  private cancelTimer: (() => void) | undefined
  /** Counts starts and stops, so that an answer of before does nothing after. */
  private era = 0

  constructor(options: SourceWatchOptions) {
    this.options = options
  }

  /** Fetches now and goes on. */
  start(): void {
    this.stop()
    // The bridge rejects only what should not happen; the next refresh tries again.
    this.fetch(0, this.era).catch(() => undefined)
  }

  stop(): void {
    this.era++
    this.cancelTimer?.()
    this.cancelTimer = undefined
  }

  private async fetch(failures: number, era: number): Promise<void> {
    const { etag } = this.copy ?? {}
    const answer = await this.options.bridge.config(etag === undefined ? {} : { etag })
    if (era !== this.era) return
    const waitMs = isWorthAnotherTry(answer.status) ? WAITS_MS[failures] : undefined
    const again = waitMs === undefined ? 0 : failures + 1
    this.cancelTimer = this.options.clock.after(waitMs ?? this.options.refreshMs, () => {
      this.fetch(again, era).catch(() => undefined)
    })
    this.judge(answer.status, answer.etag, answer.body)
  }

  private judge(status: number, etag: string | undefined, body: string | undefined): void {
    const at = new Date(this.options.clock.now()).toISOString()
    if (status === 304 && this.copy) this.adopt({ ...this.copy, at })
    if (status === 200) {
      const enabled = isEnabled(body)
      if (enabled !== undefined) this.adopt({ enabled, ...(etag !== undefined && { etag }), at })
    }
    if (status === 400 || status === 401) this.options.onRejected(status)
  }

  private adopt(copy: SourceCopy): void {
    this.copy = copy
    this.options.onCopy(copy)
  }
}

export function sourceCopyFrom(text: string | undefined): SourceCopy | undefined {
  const copy = parsedJson(text)
  return typeof copy?.enabled === 'boolean' && typeof copy.at === 'string' ? copy : undefined
}

/** undefined: unusable, the copy stays. Anything but `"enabled": false` in a JSON object counts as enabled. */
export function isEnabled(body: string | undefined): boolean | undefined {
  const answer = parsedJson(body)
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return undefined
  return answer.source?.enabled !== false
}

function isWorthAnotherTry(status: number): boolean {
  return status === 0 || status === 408 || status === 429 || status >= 500
}
