import type { Clock, Logger } from '@millrace/std'

/** The first expiry of a destination is reported at once, later ones at this interval. */
const TELL_EVERY_MS = 60_000

export interface ExpiryReportsOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly onExpired: (destinationId: string, count: number) => void
  /** For the audit log: the events of a destination that expired since the last report. */
  readonly tellExpired: (destinationId: string, count: number) => void
}

/** Reports the events that expired because the storage budget was full. */
export class ExpiryReports {
  readonly #options: ExpiryReportsOptions
  /** By destination: expired events not yet reported, and the time of the last report. */
  readonly #untold = new Map<string, { count: number; toldAt: number }>()

  constructor(options: ExpiryReportsOptions) {
    this.#options = options
  }

  note(destinationId: string, count: number): void {
    this.#options.onExpired(destinationId, count)
    const known = this.#untold.get(destinationId)
    this.#untold.set(destinationId, {
      count: (known?.count ?? 0) + count,
      toldAt: known?.toldAt ?? Number.NEGATIVE_INFINITY,
    })
  }

  /** Reports what is due; call it every second or so. */
  tellDue(): void {
    const now = this.#options.clock.monotonic()
    for (const [id, { toldAt }] of this.#untold) if (now - toldAt >= TELL_EVERY_MS) this.#tell(id)
  }

  tellAll(): void {
    for (const id of this.#untold.keys()) this.#tell(id)
  }

  #tell(destinationId: string): void {
    const { logger, clock, tellExpired } = this.#options
    const { count } = this.#untold.get(destinationId)!
    // No expiry since the last report: the next expiry is reported at once.
    if (count === 0) {
      this.#untold.delete(destinationId)
      return
    }
    this.#untold.set(destinationId, { count: 0, toldAt: clock.monotonic() })
    logger.warn({ destinationId, count }, 'events expired: the backlog was full')
    tellExpired(destinationId, count)
  }
}
