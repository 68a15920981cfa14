import type { KeyTypes } from '@millrace/api-types'

/** The differences between two schemas, by key path. */
export interface SchemaChange {
  readonly path: string
  readonly kind: 'added' | 'removed' | 'type changed'
  /** Null for an added key. */
  readonly before: string | null
  /** Null for a removed key. */
  readonly after: string | null
}

export function schemaChanges(before: KeyTypes, after: KeyTypes): SchemaChange[] {
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return paths.flatMap((path): SchemaChange[] => {
    const was = Object.hasOwn(before, path) ? before[path]! : null
    const is = Object.hasOwn(after, path) ? after[path]! : null
    if (was === is) return []
    const kind = was === null ? 'added' : is === null ? 'removed' : 'type changed'
    return [{ path, kind, before: was, after: is }]
  })
}
