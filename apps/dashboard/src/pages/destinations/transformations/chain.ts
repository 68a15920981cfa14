/** The chain with one of its members a place earlier or later; the same chain where there is none. */
export function moved(chain: readonly string[], at: number, by: -1 | 1): readonly string[] {
  const to = at + by
  if (to < 0 || to >= chain.length) return chain
  return chain.with(at, chain[to]!).with(to, chain[at]!)
}
