import type { OutageReading, Sign } from '../failure/outage.ts'
import type { LimitSettings } from './destination-limits.ts'

/**
 * The part of a destination's limits that one of several processes has. It answers from memory; what it lacks it asks for in
 * the background, and has the lanes woken when it comes.
 *
 * @see contracts/cluster.md §7 [K13]
 */
export interface ProcessPart {
  /** Settings that a lane has taken over. */
  configured(settings: LimitSettings): void
  /** Of so many calls in flight: how many this process may have. */
  concurrencyOf(concurrency: number): number
  /** 0 if a token of the throttle is here; else how many ms until there may be one. */
  tokenWaitMs(now: number): number
  takeToken(): void
  /** Whether the one probe is this process's. */
  mayProbe(now: number): boolean
  probeTaken(): void
  /** The probe was not sent. */
  probeEnded(): void
  /** An attempt was taken into account. */
  noted(attempt: NotedAttempt): void
}

export interface NotedAttempt {
  readonly sign: Sign | undefined
  readonly wasProbe: boolean
  /** The outage began or ended. */
  readonly isChanged: boolean
  readonly outage: OutageReading
  readonly now: number
}

/** What the part may change of the limits in this process. */
export interface PartOfLimits {
  /** The outage, as other processes have it. */
  adopt(outage: OutageReading): void
  /** `concurrencyOf` answers otherwise now. */
  shareChanged(): void
  /** Lanes that were refused may try again. */
  wake(): void
}

/** Makes the part for the limits that it is given. */
export type MakePart = (limits: PartOfLimits) => ProcessPart
