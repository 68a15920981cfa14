/** How a key differs between two versions. */
export interface KeyChange {
  readonly path: string
  readonly change: 'added' | 'removed' | 'type changed'
  /** Null where there is no such key. */
  readonly from: string | null
  readonly to: string | null
}

type Schema = Readonly<Record<string, string>>

/** What the second has otherwise than the first, by path. */
export function versionDiff(first: Schema, second: Schema): KeyChange[] {
  const paths = [...new Set([...Object.keys(first), ...Object.keys(second)])].sort()
  return paths.flatMap((path): KeyChange[] => {
    const from = Object.hasOwn(first, path) ? first[path]! : null
    const to = Object.hasOwn(second, path) ? second[path]! : null
    if (from === to) return []
    return [{ path, change: from === null ? 'added' : to === null ? 'removed' : 'type changed', from, to }]
  })
}
