import type { Stats } from '@millrace/api-types'

/** Steps that are asked for again: the one that went on, and one whose end had not been counted yet. */
const ASKED_AGAIN = 2

interface Range {
  /** Milliseconds since 1970, at a step. */
  readonly from: number
  readonly to: number
}

/** From where on the steps of a range have to be asked for, where earlier ones are known. */
export function askedFrom({ from, to }: Range, known: Stats | undefined): number {
  if (known === undefined || Date.parse(known.from) > from) return from
  const again = Date.parse(known.to) - ASKED_AGAIN * known.stepSeconds * 1000
  return again > from && again < to ? again : from
}

/** The steps from `from` on: those that are newly answered, and before them those that were known. */
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
