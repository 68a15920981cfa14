import type { Logger } from '@millrace/std'

const WARN_AT = 0.8

/** For /health: how full the storage budget is; undefined below 80 %. @param largest the destination that holds most. */
export function budgetWarning(used: number, maxBytes: number, largest: string | undefined): string | undefined {
  if (used < enoughToWarn(maxBytes)) return undefined
  const share = `${Math.floor((used / maxBytes) * 100)} % used`
  return largest === undefined ? share : `${share}, most by ${largest}`
}

export function enoughToWarn(maxBytes: number): number {
  return WARN_AT * maxBytes
}

/** Tells the log once when the budget is 80 % full, and once when it no longer is. */
export class BudgetWarning {
  readonly #maxBytes: number
  readonly #logger: Logger
  /** As of the last check. */
  text: string | undefined

  constructor(maxBytes: number, logger: Logger) {
    this.#maxBytes = maxBytes
    this.#logger = logger
  }

  check(usedBytes: number, largest: string | undefined): void {
    const hasWarned = this.text !== undefined
    this.text = budgetWarning(usedBytes, this.#maxBytes, largest)
    const isWarning = this.text !== undefined
    if (isWarning === hasWarned) return
    const maxBytes = this.#maxBytes
    if (isWarning) {
      const facts = { destinationId: largest, usedBytes, maxBytes }
      this.#logger.warn(facts, 'the backlog is above 80 % of its limit')
    } else this.#logger.info({ usedBytes }, 'the backlog is below 80 % of its limit again')
  }
}
