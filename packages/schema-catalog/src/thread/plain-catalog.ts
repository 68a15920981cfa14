import { eventName, isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol'

interface PlainVersion {
  readonly schema: Record<string, string>
  total: number
}

/** A model, counted in the plainest way. */
export interface PlainModel {
  readonly name: string
  total: number
  readonly schema: Map<string, string[]>
  readonly versions: PlainVersion[]
  readonly keyCounts: Map<string, number>
  readonly values: Map<string, string[]>
}

/** The exact answer, with everything in memory and no bounds but those of arrays: what the catalog is compared with. */
export class PlainCatalog {
  readonly models = new Map<string, PlainModel>()

  observe(event: JsonObject): void {
    const { type } = event as { type: string }
    const name = `${type}:${['track', 'page', 'screen'].includes(type) ? eventName(event) : ''}`
    let model = this.models.get(name)
    if (model === undefined) {
      const empty = { schema: new Map(), versions: [], keyCounts: new Map(), values: new Map() }
      model = { name, total: 0, ...empty }
      this.models.set(name, model)
    }
    model.total++
    const leaves = new Map<string, string | number | boolean>()
    addLeaves([], event, leaves)
    const types = new Map([...leaves].map(([path, value]) => [path, TYPES[typeof value as keyof typeof TYPES]]))
    for (const [path, each] of types) {
      const known = model.schema.get(path) ?? []
      if (!known.includes(each)) model.schema.set(path, [...known, each])
      model.keyCounts.set(path, (model.keyCounts.get(path) ?? 0) + 1)
      model.values.set(path, [...(model.values.get(path) ?? []), String(leaves.get(path))])
    }
    const schema = Object.fromEntries(types)
    const id = shapeOf(schema)
    const version = model.versions.find((each) => shapeOf(each.schema) === id)
    if (version === undefined) model.versions.push({ schema, total: 1 })
    else version.total++
  }
}

/** Frequent values by path: how often each comes that is one in a hundred at least. */
export function plainFrequentValues(model: PlainModel): Record<string, Record<string, number>> {
  const byPath = [...model.values].map(([path, values]) => {
    const counts = new Map<string, number>()
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
    const frequent = [...counts].filter(([, count]) => count * 100 >= values.length)
    return [path, Object.fromEntries(frequent)] as const
  })
  return Object.fromEntries(byPath.filter(([, frequent]) => Object.keys(frequent).length > 0))
}

const TYPES = { string: 'string', number: 'float64', boolean: 'bool' } as const

function addLeaves(names: readonly string[], value: JsonValue, leaves: Map<string, string | number | boolean>): void {
  if (Array.isArray(value)) {
    for (const [i, item] of value.slice(0, 20).entries()) addLeaves([...names, String(i)], item, leaves)
  } else if (isJsonObject(value)) {
    for (const name of Object.keys(value)) addLeaves([...names, name], value[name]!, leaves)
  } else if (value !== null && !leaves.has(names.join('.'))) {
    leaves.set(names.join('.'), value)
  }
}

function shapeOf(schema: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(schema).sort(([a], [b]) => (a < b ? -1 : 1)))
}
