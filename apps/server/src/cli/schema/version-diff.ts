/** The difference of a key between two versions. */
export interface KeyChange {
  readonly path: string
  readonly change: 'added' | 'removed' | 'type changed'
  /** Null if the version lacks the key. */
  readonly from: string | null
  readonly to: string | null
}

type Schema = Readonly<Record<string, string>>

/** Differences of the second version from the first, by path. */
export function versionDiff(first: Schema, second: Schema): KeyChange[] {
  const paths = [...new Set([...Object.keys(first), ...Object.keys(second)])].sort()
  return paths.flatMap((path): KeyChange[] => {
    const from = Object.hasOwn(first, path) ? first[path]! : null
    const to = Object.hasOwn(second, path) ? second[path]! : null
    if (from === to) return []
    return [{ path, change: from === null ? 'added' : to === null ? 'removed' : 'type changed', from, to }]
  })
}
