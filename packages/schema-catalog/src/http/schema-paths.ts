/** What a path below /schemas/ asks for. @see contracts/schema-catalog.md §1 */
export type SchemaPath =
  | { readonly kind: 'event-models' | 'event-versions' | 'json-schemas' | 'status' }
  | { readonly kind: 'model-metadata' | 'key-counts'; readonly id: string }
  | { readonly kind: 'version-metadata' | 'missing-keys'; readonly id: string }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unreadable' }

export const SCHEMA_PREFIX = '/schemas/'

const LISTS = new Map<string, 'event-models' | 'event-versions' | 'json-schemas' | 'status'>([
  ['event-models', 'event-models'],
  ['event-versions', 'event-versions'],
  ['event-models/json-schemas', 'json-schemas'],
  ['status', 'status'],
])
const BY_ID = new Map<string, 'model-metadata' | 'key-counts' | 'version-metadata' | 'missing-keys'>([
  ['event-model/metadata', 'model-metadata'],
  ['event-model/key-counts', 'key-counts'],
  ['event-version/metadata', 'version-metadata'],
  ['event-version/missing-keys', 'missing-keys'],
])

/** @param path without its query, still encoded. */
export function parseSchemaPath(path: string): SchemaPath {
  const encoded = path.slice(SCHEMA_PREFIX.length).split('/')
  let segments: string[]
  try {
    segments = encoded.map(decodeURIComponent)
  } catch {
    return { kind: 'unreadable' }
  }
  const list = LISTS.get(segments.join('/'))
  if (list !== undefined && encoded.length <= 2) return { kind: list }
  const [first, id, last] = segments
  if (segments.length === 2 && id === 'missing-keys' && first !== '') return { kind: 'missing-keys', id: first! }
  const kind = BY_ID.get(`${first}/${last}`)
  if (segments.length !== 3 || id === '' || kind === undefined) return { kind: 'unknown' }
  return { kind, id: id! }
}
