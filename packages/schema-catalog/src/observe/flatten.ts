import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol'
import { MAX_PATH_LENGTH } from '../limits.ts'

/** What a leaf can be; `unknown` is null, where that is captured. */
export type TypeName = 'string' | 'float64' | 'bool' | 'unknown'

export interface Leaf {
  readonly path: string
  readonly type: TypeName
}

export interface FlattenLimits {
  readonly arrayItems: number
  readonly capturesUnknowns: boolean
}

/**
 * Every leaf of an event in document order, as `Shapes` walks them; null for one whose path is too long.
 *
 * @see contracts/schema-catalog.md §5 [D312] [D313]
 */
export function flatten(event: JsonObject, limits: FlattenLimits): (Leaf | null)[] {
  const leaves: (Leaf | null)[] = []
  for (const key in event) flattenMember(key, event[key]!, limits, leaves)
  return leaves
}

function flattenMember(path: string, value: JsonValue, limits: FlattenLimits, leaves: (Leaf | null)[]): void {
  if (Array.isArray(value)) {
    for (let i = 0; i < Math.min(value.length, limits.arrayItems); i++) {
      flattenMember(deeper(path, String(i)), value[i]!, limits, leaves)
    }
  } else if (isJsonObject(value)) {
    for (const key in value) flattenMember(deeper(path, key), value[key]!, limits, leaves)
  } else if (value !== null || limits.capturesUnknowns) {
    leaves.push(path.length > MAX_PATH_LENGTH ? null : { path, type: typeName(value) })
  }
}

/** What is too long already does not grow any more, however deep it goes. */
function deeper(path: string, key: string): string {
  return path.length > MAX_PATH_LENGTH ? path : `${path}.${key}`
}

function typeName(value: string | number | boolean | null): TypeName {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'number':
      return 'float64'
    case 'boolean':
      return 'bool'
    default:
      return 'unknown'
  }
}

/** Different paths, in the order of their bytes in UTF-8. The engine's own sort is many times as fast as one with our comparison. */
export function inByteOrder(paths: Iterable<string>): string[] {
  const byOrder = new Map(Array.from(paths, (path) => [inOrderOfUtf8(path), path]))
  return [...byOrder.keys()].sort().map((order) => byOrder.get(order)!)
}

/** A text whose units compare as its bytes in UTF-8 do: surrogates, of what takes four bytes, are the highest units. */
function inOrderOfUtf8(path: string): string {
  if (!/[\ud800-\uffff]/.test(path)) return path
  const units = new Uint16Array(path.length)
  for (let i = 0; i < path.length; i++) {
    const unit = path.charCodeAt(i)
    if (unit < 0xd800) units[i] = unit
    else units[i] = unit < 0xe000 ? unit + 0x2000 : unit - 0x800
  }
  return Buffer.from(units.buffer).toString('utf16le')
}
