import type { LogWriter } from '@millrace/log'
import type { DiskSpace } from './disk-space.ts'
import type { Ending } from './ending.ts'
import type { ServerLogger } from './logger.ts'

interface Obstacle {
  readonly retryAfterSeconds: number
}

const UNAVAILABLE: Obstacle = { retryAfterSeconds: 1 }
/** Space rarely becomes free within a second. */
const DISK_FULL: Obstacle = { retryAfterSeconds: 30 }

/** Whether the log's volume has room for events. */
export type FreeSpace = Pick<DiskSpace, 'isLow' | 'trouble'>

export interface AcceptanceOptions {
  readonly log: Pick<LogWriter, 'trouble'>
  readonly disk: FreeSpace
  readonly ending: Ending
  readonly logger: ServerLogger
}

/** Whether events can be stored now; logs one line at each change. @see contracts/ingest.md §9 [D122] */
export class Acceptance {
  readonly #options: AcceptanceOptions
  #isRefusing = false

  constructor(options: AcceptanceOptions) {
    this.#options = options
  }

  /** Called before each request and after each failed write. */
  obstacle(): Obstacle | undefined {
    const { log, disk, ending } = this.#options
    if (ending.reason !== undefined) return UNAVAILABLE
    const trouble = log.trouble()
    const obstacle = trouble === undefined ? (disk.isLow ? DISK_FULL : undefined) : UNAVAILABLE
    this.#tell(obstacle && (trouble ?? disk.trouble()))
    return obstacle
  }

  #tell(cause: string | undefined): void {
    const isRefusing = cause !== undefined
    if (isRefusing === this.#isRefusing) return
    this.#isRefusing = isRefusing
    if (isRefusing) this.#options.logger.error({ cause }, 'events are refused: they cannot be stored')
    else this.#options.logger.info('events are accepted again')
  }
}
