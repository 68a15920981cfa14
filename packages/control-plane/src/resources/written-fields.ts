import { badRequest, type Static, type TObject, type TProperties, Type } from '@millrace/openapi'
import { isJsonObject, type JsonObject, ownMember } from '@millrace/protocol'
import { isRole, type Role } from '../people/role.ts'
import { invalidConfig } from '../refusals.ts'

/** Not blank, with a maximum length. */
export const NAME = { ...Type.String({ pattern: '\\S' }), maxLength: 200 }

/** The body without its envelope `{"source": {…}}`, which requests may omit. */
export function withoutEnvelope(body: JsonObject, envelope: string): JsonObject {
  const inner = ownMember(body, envelope)
  return isJsonObject(inner) && Object.keys(body).length === 1 ? inner : body
}

/** Members of every resource that a client may send but not change. */
export const READ_ONLY_MEMBERS = ['id', 'key', 'workspaceId', 'createdAt', 'updatedAt'] as const

/** Sources, destinations and connections: clients of other servers send two more members. */
export const RESOURCE_READ_ONLY_MEMBERS = [...READ_ONLY_MEMBERS, 'externalId', 'version'] as const

/** Names of the members that a schema knows. */
export function membersOf({ properties }: TObject): string[] {
  return Object.keys(properties)
}

/** @param otherwise the value if the member is absent. */
export function readName(written: JsonObject, otherwise: string | undefined): string {
  const name = Object.hasOwn(written, 'name') ? written['name'] : otherwise
  if (typeof name !== 'string' || name.trim() === '') throw badRequest('name is required')
  if ([...name].length > NAME.maxLength) throw badRequest('name is too long')
  return name
}

export function readBoolean(written: JsonObject, member: string, otherwise: boolean): boolean {
  const value = Object.hasOwn(written, member) ? written[member] : otherwise
  if (typeof value !== 'boolean') throw badRequest(`${member} must be a boolean`)
  return value
}

/** @param otherwise the value if the member is absent. */
export function readRole(written: JsonObject, otherwise: Role | undefined): Role {
  const role = Object.hasOwn(written, 'role') ? written['role'] : otherwise
  if (role === undefined || role === null || role === '') throw badRequest('role is required')
  if (!isRole(role)) throw badRequest(`Unknown role ${typeof role === 'string' ? role : JSON.stringify(role)}`)
  return role
}

/** A required text. */
export function readText(written: JsonObject, member: string): string {
  const value = ownMember(written, member)
  if (typeof value !== 'string' || value === '') throw badRequest(`${member} is required`)
  return value
}

/** Refuses a value that differs from the saved one, if the member is present. */
export function refuseOther(written: JsonObject, member: string, saved: string): void {
  if (Object.hasOwn(written, member) && written[member] !== saved) throw badRequest(`${member} cannot be changed`)
}

/** Reads the members of an object inside a config; an error becomes `Invalid config` with its place. */
export class ConfigReader<P extends TProperties> {
  readonly #schema: TObject<P>
  readonly #object: JsonObject
  readonly #path: string

  /**
   * @param schema names the members, with the range, texts and default of each.
   * @param path JSON pointer of the object.
   */
  constructor(schema: TObject<P>, value: unknown, path: string) {
    if (!isJsonObject(value)) throw invalidConfig(path, 'must be an object')
    const known = membersOf(schema)
    const unknown = Object.keys(value).find((member) => !known.includes(member))
    if (unknown !== undefined) throw invalidConfig(`${path}/${unknown}`, 'is not known')
    this.#schema = schema
    this.#object = value
    this.#path = path
  }

  /** @param member an integer, one of several texts, or a text that matches a pattern. */
  read<M extends keyof P & string>(member: M): Static<P[M]> {
    const schema = this.#schema.properties[member] as MemberSchema
    const value = this.#member(member, schema.default)
    const fault = faultOf(value, schema)
    if (fault !== undefined) throw invalidConfig(`${this.#path}/${member}`, fault)
    return value as Static<P[M]>
  }

  #member(member: string, otherwise: unknown): unknown {
    const value = ownMember(this.#object, member) ?? (Object.hasOwn(this.#object, member) ? null : otherwise)
    if (value === undefined) throw invalidConfig(`${this.#path}/${member}`, 'is required')
    return value
  }
}

type MemberSchema = { readonly default?: unknown } & (IntegerRange | { readonly enum: readonly string[] } | Pattern)

interface Pattern {
  readonly pattern: string
  /** Describes the texts that match the pattern. */
  readonly title: string
  readonly maxLength?: number
}

function faultOf(value: unknown, schema: MemberSchema): string | undefined {
  if ('enum' in schema) return faultOfText(value, schema)
  return 'pattern' in schema ? faultOfPattern(value, schema) : faultOfInteger(value, schema)
}

function faultOfPattern(
  value: unknown,
  { pattern, title, maxLength = Number.POSITIVE_INFINITY }: Pattern,
): string | undefined {
  if (typeof value !== 'string') return 'must be a text'
  if (value.length > maxLength) return `must have at most ${maxLength} characters`
  return new RegExp(pattern).test(value) ? undefined : `must be ${title}`
}

interface IntegerRange {
  readonly minimum: number
  readonly maximum: number
}

function faultOfInteger(value: unknown, { minimum, maximum }: IntegerRange): string | undefined {
  const isWithin = Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum
  return isWithin ? undefined : `must be an integer from ${minimum} to ${maximum}`
}

function faultOfText(value: unknown, { enum: allowed }: { readonly enum: readonly string[] }): string | undefined {
  if (allowed.includes(value as string)) return undefined
  return `must be ${allowed.map((text) => `"${text}"`).join(' or ')}`
}
