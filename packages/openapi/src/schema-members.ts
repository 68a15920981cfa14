/** A member of an object, as a row of a table. */
export interface Member {
  /** With those around it: `source.config.orderShards`, `sources[].id`. */
  readonly name: string
  readonly type: string
  /** Range, texts and default. */
  readonly rule: string
  readonly description: string
  readonly isNeeded: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: a JSON schema
type Schema = any

const MAX_DEPTH = 8

/** Every member of what a schema describes, those of objects inside it among them. */
export function membersOf(schema: Schema, schemas: Readonly<Record<string, Schema>>): Member[] {
  return [...within(schema, '', schemas, MAX_DEPTH)]
}

function* within(
  given: Schema,
  path: string,
  schemas: Readonly<Record<string, Schema>>,
  depth: number,
): Generator<Member> {
  const schema = resolved(given, schemas)
  if (depth === 0) return
  if (schema.type === 'array') {
    yield* within(schema.items ?? {}, `${path}[]`, schemas, depth - 1)
    return
  }
  const alternatives = (schema.anyOf ?? []).map((each: Schema) => resolved(each, schemas))
  // An envelope that may be left out: what is in it is told once.
  const [first] = alternatives.filter((each: Schema) => each.type === 'object' || each.type === 'array')
  if (first !== undefined) {
    yield* within(first, path, schemas, depth)
    return
  }
  for (const [name, each] of Object.entries<Schema>(schema.properties ?? {})) {
    if (each.readOnly === true) continue
    const member = resolved(each, schemas)
    const place = path === '' ? name : `${path}.${name}`
    yield {
      name: place,
      type: typeOf(member, schemas),
      rule: ruleOf(member),
      description: member.description ?? '',
      isNeeded: (schema.required ?? []).includes(name),
    }
    yield* within(member, place, schemas, depth - 1)
  }
}

function resolved(schema: Schema, schemas: Readonly<Record<string, Schema>>): Schema {
  const name = /^#\/components\/schemas\/(.+)$/.exec(schema?.$ref ?? '')?.[1]
  if (name === undefined) return schema
  const { $ref: _, ...beside } = schema
  return { ...schemas[name], ...beside }
}

function typeOf(schema: Schema, schemas: Readonly<Record<string, Schema>>): string {
  if (schema.anyOf !== undefined) {
    return schema.anyOf.map((each: Schema) => typeOf(resolved(each, schemas), schemas)).join(' or ')
  }
  if (schema.type === 'array') return `list of ${typeOf(resolved(schema.items ?? {}, schemas), schemas)}`
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  return schema.type ?? 'anything'
}

function ruleOf(schema: Schema): string {
  const { minimum, maximum, maxLength, maxItems, enum: allowed, default: otherwise } = schema
  const rules: string[] = []
  if (minimum !== undefined && maximum !== undefined) {
    rules.push(`${minimum.toLocaleString('en-US')} to ${maximum.toLocaleString('en-US')}`)
  } else if (minimum !== undefined && minimum > 0) rules.push(`at least ${minimum}`)
  if (maxLength !== undefined) rules.push(`at most ${maxLength} characters`)
  if (maxItems !== undefined) rules.push(`at most ${maxItems}`)
  if (allowed !== undefined) rules.push(allowed.join(' | '))
  if (otherwise !== undefined) rules.push(`default ${JSON.stringify(otherwise)}`)
  return rules.join('; ')
}
