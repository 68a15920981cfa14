import type { Series } from '@millrace/api-types'

/** Period of a rate: long enough to be stable, short enough to be current. */
export const RATE_SECONDS = 60

/** Events a second over the last minute with figures; null without figures. */
export function rateOf(values: Series | undefined, stepSeconds: number | undefined): number | null {
  if (values === undefined || stepSeconds === undefined) return null
  const known = values.slice(-Math.ceil(RATE_SECONDS / stepSeconds)).filter((value) => value !== null)
  return known.length === 0 ? null : sumOf(known) / (known.length * stepSeconds)
}

/** Unknown values count as zero. */
export function sumOf(values: Series): number {
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0)
}

/** Sums of `size` consecutive values, from the end; null if all of them are unknown. */
export function summed(values: Series, size: number): (number | null)[] {
  return inGroups(values, size, sumOf)
}

/** Maximum of each `size` values, from the end: a minute does not hide ten bad seconds. */
export function greatest(values: Series, size: number): (number | null)[] {
  return inGroups(values, size, (known) => Math.max(...known))
}

function inGroups(values: Series, size: number, fold: (known: readonly number[]) => number): (number | null)[] {
  const folded: (number | null)[] = []
  for (let end = values.length; end > 0; end -= size) {
    const known = values.slice(Math.max(0, end - size), end).filter((value) => value !== null)
    folded.push(known.length === 0 ? null : fold(known))
  }
  return folded.reverse()
}
