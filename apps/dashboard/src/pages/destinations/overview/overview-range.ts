import { oneOf } from '../../../shell/search-values.ts'

/** How far back, in seconds, and in which steps; at most 360 of them are given at once. */
export const RANGES = {
  '1h': { label: '1 h', seconds: 3600, step: 10 },
  '6h': { label: '6 h', seconds: 21_600, step: 300 },
  '24h': { label: '24 h', seconds: 86_400, step: 300 },
} as const

export type RangeName = keyof typeof RANGES
export const RANGE_NAMES = Object.keys(RANGES) as RangeName[]

export const overviewSearch = { range: oneOf(...RANGE_NAMES) }
