import type { Stats } from '@millrace/api-types'

/** Steps that are requested again: the unfinished step, and one whose end was not counted yet. */
const ASKED_AGAIN = 2

interface Range {
  /** Milliseconds since 1970, at the start of a step. */
  readonly from: number
  readonly to: number
}

/** The first step of a range to request, if earlier steps are known. */
export function askedFrom({ from, to }: Range, known: Stats | undefined): number {
  if (known === undefined || Date.parse(known.from) > from) return from
  const again = Date.parse(known.to) - ASKED_AGAIN * known.stepSeconds * 1000
  return again > from && again < to ? again : from
}

/** The steps from `from`: known steps, then the new answer. */
export function movedOn(known: Stats, newer: Stats, from: number): Stats {
  const stepMs = newer.stepSeconds * 1000
  const skipped = (from - Date.parse(known.from)) / stepMs
  const kept = (Date.parse(newer.from) - from) / stepMs
  const joined = <Node extends { readonly id: string }>(before: readonly Node[], now: readonly Node[]): Node[] => {
    const byId = new Map(before.map((node) => [node.id, node as Readonly<Record<string, unknown>>]))
    return now.map((node) => {
      const earlier = byId.get(node.id)
      const members = Object.entries(node).map(([name, value]) => {
        if (!Array.isArray(value)) return [name, value]
        const series = earlier?.[name]
        const head = Array.isArray(series) ? series.slice(skipped, skipped + kept) : new Array<null>(kept).fill(null)
        return [name, [...head, ...value]]
      })
      return Object.fromEntries(members) as Node
    })
  }
  return {
    ...newer,
    from: new Date(from).toISOString(),
    sources: joined(known.sources, newer.sources),
    transformations: joined(known.transformations, newer.transformations),
    destinations: joined(known.destinations, newer.destinations),
  }
}
