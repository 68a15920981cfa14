/** What bounds the catalog, whatever is sent. What a limit cuts is counted. @see contracts/schema-catalog.md §9 */
export interface CatalogLimits {
  /** Stored per source; beyond it nothing new but counts. */
  readonly sourceBytes: number
  readonly modelsPerSource: number
  readonly versionsPerModel: number
  readonly keysPerEvent: number
  readonly keysPerModel: number
  /** Maximum array elements that give keys. */
  readonly arrayItems: number
  /** A value is frequent if it occurs at least once in this number of observations. */
  readonly frequentPer: number
  readonly valuesPerKey: number
  readonly valuesPerVersion: number
  readonly cacheBytes: number
  readonly samples: number
  /** Whether null gives a key, of the type `unknown`. */
  readonly capturesUnknowns: boolean
}

/** Bytes that one read of the log takes at most. */
export const SLICE_BYTES = 512 * 1024
/** Between a commit to the log and the reading, so that what comes together is read together. */
export const GATHER_MS = 50
/** Between two commits of counts. */
export const COMMIT_MS = 5_000
/** Memory for young objects of the counting thread: events that are parsed and forgotten. */
export const YOUNG_MB = 8
export const MAX_PATH_LENGTH = 1_024
/** Counters for the values of a model's events that have no version. */
export const UNVERSIONED_VALUES = 400_000
/** A key keeps at least so many counters: its error stays within 0.5 %. */
export const LEAST_VALUES = 200
/** Further identifiers of a source that has all the models it may have count in this one. */
export const OTHER_IDENTIFIER = '__millrace_other__'

/** Counters that the threshold needs for its promise: 2.56 times as many, so that the error is under half of it. */
export function countersPerKey({ valuesPerKey, frequentPer }: CatalogLimits): number {
  return Math.max(valuesPerKey, Math.ceil(2.56 * frequentPer))
}
