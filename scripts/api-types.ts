import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DevEnv } from '../apps/dev-env/src/index.ts'
import { programArguments } from '../apps/dev-env/src/program-arguments.ts'

/** The parts of JSON Schema that our documents use. */
interface Schema {
  readonly $ref?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly type?: string
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly description?: string
  readonly readOnly?: boolean
}

const ROOT = path.dirname(import.meta.dirname)
const FILE = 'packages/api-types/src/api-types.ts'

/*
 * Type aliases and not interfaces: a component is JSON, and only an alias is assignable to the JSON types of
 * packages/protocol, which `JsonValue` and `JsonObject` repeat because no package of the lowest layer imports another.
 */
const HEAD = `/*
 * The components of the OpenAPI document. Generated: do not edit; run npm run api:types.
 *
 * Members that a server ignores in a request are left out.
 */

type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject
type JsonObject = { [name: string]: JsonValue }
`

const { values } = programArguments({
  usage: `Writes the types of the HTTP API, ${FILE}, from the OpenAPI document of a real server.

  npm run api:types [-- --check]

  --check  writes nothing, and fails if the file is not current`,
  options: { check: { type: 'boolean' } },
})
const text = formatted(typesOf(await components()))
const place = path.join(ROOT, FILE)
if (!values.check) writeFileSync(place, text)
else if (readFileSync(place, 'utf8') !== text) {
  console.error(`${FILE} differs from the OpenAPI document: run npm run api:types`)
  process.exitCode = 1
}

async function components(): Promise<Readonly<Record<string, Schema>>> {
  await using env = await DevEnv.open()
  const { json } = await env.request('/openapi.json')
  return (json as { components: { schemas: Record<string, Schema> } }).components.schemas
}

function typesOf(schemas: Readonly<Record<string, Schema>>): string {
  // By name, so that the order of the routes does not matter.
  const names = Object.keys(schemas).toSorted()
  return [
    HEAD,
    ...names.map((name) => `${comment(schemas[name]!)}export type ${name} = ${typeOf(schemas[name]!)}\n`),
  ].join('\n')
}

/** @throws Error for what a type cannot say: a type that is too wide would go unnoticed. */
function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.slice('#/components/schemas/'.length)
  if (schema.const !== undefined) return literal(schema.const)
  if (schema.enum !== undefined) return union(schema.enum.map(literal))
  if (schema.anyOf !== undefined) return union(schema.anyOf.map(typeOf))
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'number':
    case 'integer':
      return 'number'
    case 'array':
      return `readonly (${typeOf(schema.items ?? {})})[]`
    case 'object':
      return objectType(schema)
    case undefined:
      if (Object.keys(schema).every((key) => key === 'description' || key === 'readOnly')) return 'JsonValue'
  }
  throw new Error(`No type for ${JSON.stringify(schema)}`)
}

function objectType({ properties = {}, required = [], additionalProperties = true }: Schema): string {
  const members = Object.entries(properties).filter(([, { readOnly }]) => readOnly !== true)
  if (members.length === 0) {
    const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'JsonValue'
    return value === 'JsonValue' ? 'JsonObject' : `{ readonly [name: string]: ${value} }`
  }
  const lines = members.map(([name, member]) => {
    const mark = required.includes(name) ? '' : '?'
    return `${comment(member)}readonly ${/^\w+$/.test(name) ? name : literal(name)}${mark}: ${typeOf(member)}`
  })
  // A member on a line of its own keeps the formatter from joining them.
  return `{\n${lines.join('\n')}\n}`
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ')
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replace(/['\\]/g, '\\$&')}'` : JSON.stringify(value)
}

function comment({ description }: Schema): string {
  return description === undefined ? '' : `/** ${description.replaceAll('*/', '*\\/')} */\n`
}

function formatted(code: string): string {
  const biome = path.join(ROOT, 'node_modules/@biomejs/biome/bin/biome')
  const { status, stdout, stderr } = spawnSync(process.execPath, [biome, 'format', `--stdin-file-path=${FILE}`], {
    cwd: ROOT,
    input: code,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`The formatter failed: ${stderr}`)
  return stdout
}
