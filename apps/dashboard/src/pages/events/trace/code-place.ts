/** Where in code something failed. */
export interface CodePlace {
  /** Null: in the transformation itself. */
  readonly library: string | null
  readonly line: number
  readonly column: number
}

const PLACE = /\b(?:base transformation|library ([\w$]+)):(\d+):(\d+)/

/** The topmost place that an error names: `base transformation:4:33`. @see contracts/transformations.md §5 */
export function codePlace(error: string): CodePlace | undefined {
  const found = PLACE.exec(error)
  if (found === null) return undefined
  return { library: found[1] ?? null, line: Number(found[2]), column: Number(found[3]) }
}
