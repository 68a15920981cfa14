/** What a path below /schemas/ asks for. @see contracts/schema-catalog.md §1 */
export type SchemaPath =
  | { readonly kind: 'event-models' | 'event-versions' | 'json-schemas' | 'status' }
  | { readonly kind: 'model-metadata' | 'key-counts'; readonly id: string }
  | { readonly kind: 'version-metadata' | 'missing-keys'; readonly id: string }
  | { readonly kind: 'unknown' | 'unreadable' }

export const SCHEMA_PREFIX = '/schemas/'

const LISTS: Readonly<Record<string, SchemaPath>> = {
  'event-models': { kind: 'event-models' },
  'event-versions': { kind: 'event-versions' },
  'event-models/json-schemas': { kind: 'json-schemas' },
  status: { kind: 'status' },
}
const BY_ID = {
  'event-model/metadata': 'model-metadata',
  'event-model/key-counts': 'key-counts',
  'event-version/metadata': 'version-metadata',
  'event-version/missing-keys': 'missing-keys',
} as const

/** @param path without its query, still encoded. */
export function parseSchemaPath(path: string): SchemaPath {
  const encoded = path.slice(SCHEMA_PREFIX.length).split('/')
  let segments: string[]
  try {
    segments = encoded.map(decodeURIComponent)
  } catch {
    return { kind: 'unreadable' }
  }
  const list = LISTS[segments.join('/')]
  if (list !== undefined && encoded.length <= 2) return list
  const [first, id, last] = segments
  if (segments.length === 2 && id === 'missing-keys' && first !== '') return { kind: 'missing-keys', id: first! }
  const name = `${first}/${last}`
  if (segments.length !== 3 || id === '' || !Object.hasOwn(BY_ID, name)) return { kind: 'unknown' }
  return { kind: BY_ID[name as keyof typeof BY_ID], id: id! }
}
