import type { TypedKey } from '../observe/typed-keys.ts'

/** Where the keys of a type's events are that people describe. */
const ROOTS: Readonly<Record<string, string>> = {
  track: 'properties.',
  page: 'properties.',
  screen: 'properties.',
  identify: 'traits.',
  group: 'traits.',
}
const NAMES: Readonly<Record<string, string>> = {
  string: 'string',
  float64: 'number',
  bool: 'boolean',
  unknown: 'object',
}

/** Members within members, and schemas of one model: paths can have 1,000 segments each, which one answer could not hold. */
const MAX_DEPTH = 50
const MAX_NODES = 20_000

interface Node {
  types: string[]
  readonly members: Map<string, Node>
}

/**
 * A JSON Schema of a model, as text.
 *
 * @returns undefined for a type that has none, or a model without such keys.
 * @see contracts/schema-catalog.md §10 [D332]
 */
export function jsonSchemaOf(type: string, identifier: string, keys: readonly TypedKey[]): string | undefined {
  const root = ROOTS[type]
  if (root === undefined) return undefined
  const tree: Node = { types: [], members: new Map() }
  let nodes = 0
  for (const [path, types] of keys) {
    if (!path.startsWith(root)) continue
    const names = path.slice(root.length).split('.')
    if (names.length > MAX_DEPTH || nodes + names.length > MAX_NODES) continue
    let node = tree
    for (const name of names) {
      let next = node.members.get(name)
      if (next === undefined) {
        next = { types: [], members: new Map() }
        node.members.set(name, next)
        nodes++
      }
      node = next
    }
    node.types = [...new Set([...node.types, ...types.split(',').map((each) => NAMES[each] ?? each)])]
  }
  if (nodes === 0) return undefined
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    additionalProperties: false,
    properties: propertiesOf(tree),
  }
  return JSON.stringify({ schema, schemaType: type, schemaIdentifier: identifier })
}

function propertiesOf({ members }: Node): object {
  return Object.fromEntries([...members].map(([name, node]) => [name, schemaOf(node)]))
}

function schemaOf(node: Node): object {
  const { types, members } = node
  if (members.size === 0) return { type: types }
  const isArray = [...members.keys()].every((name) => /^(0|[1-9]\d*)$/.test(name))
  const shape = isArray
    ? { type: 'array', items: schemaOf(members.get('0') ?? members.values().next().value!) }
    : { type: 'object', properties: propertiesOf(node) }
  // Some events had a value where others had members.
  return types.length === 0 ? shape : { ...shape, type: [...types, shape.type] }
}
