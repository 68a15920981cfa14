import { isJsonObject, type JsonObject, ownMember } from '@millrace/protocol'
import { badRequest, invalidConfig } from './api-error.ts'
import { isRole, type Role } from './role.ts'

const MAX_NAME_LENGTH = 200

/** What was sent, without the envelope `{"source": {…}}` that requests may leave out. */
export function withoutEnvelope(body: JsonObject, envelope: string): JsonObject {
  const inner = ownMember(body, envelope)
  return isJsonObject(inner) && Object.keys(body).length === 1 ? inner : body
}

/** Members of every resource that a client may send back but not change. */
export const READ_ONLY_MEMBERS = ['id', 'key', 'workspaceId', 'createdAt', 'updatedAt']

export function refuseUnknownMembers(written: JsonObject, known: readonly string[]): void {
  const unknown = Object.keys(written).filter((member) => !known.includes(member))
  if (unknown.length > 0) throw badRequest(`Unknown member: ${unknown.join(', ')}`)
}

/** @param otherwise taken when the member is absent. */
export function readName(written: JsonObject, otherwise: string | undefined): string {
  const name = Object.hasOwn(written, 'name') ? written['name'] : otherwise
  if (typeof name !== 'string' || name.trim() === '') throw badRequest('name is required')
  if ([...name].length > MAX_NAME_LENGTH) throw badRequest('name is too long')
  return name
}

export function readBoolean(written: JsonObject, member: string, otherwise: boolean): boolean {
  const value = Object.hasOwn(written, member) ? written[member] : otherwise
  if (typeof value !== 'boolean') throw badRequest(`${member} must be a boolean`)
  return value
}

/** @param otherwise taken when the member is absent. */
export function readRole(written: JsonObject, otherwise: Role | undefined): Role {
  const role = Object.hasOwn(written, 'role') ? written['role'] : otherwise
  if (role === undefined || role === null || role === '') throw badRequest('role is required')
  if (!isRole(role)) throw badRequest(`Unknown role ${typeof role === 'string' ? role : JSON.stringify(role)}`)
  return role
}

/** A text that must be there. */
export function readText(written: JsonObject, member: string): string {
  const value = ownMember(written, member)
  if (typeof value !== 'string' || value === '') throw badRequest(`${member} is required`)
  return value
}

/** Refuses another value than the saved one, where the member is sent at all. */
export function refuseOther(written: JsonObject, member: string, saved: string): void {
  if (Object.hasOwn(written, member) && written[member] !== saved) throw badRequest(`${member} cannot be changed`)
}

/** Reads the members of an object inside a config; what is wrong there is an `Invalid config` with its place. */
export class ConfigReader {
  readonly #object: JsonObject
  readonly #path: string

  /** @param path JSON pointer of the object. */
  constructor(value: unknown, path: string, known: readonly string[]) {
    if (!isJsonObject(value)) throw invalidConfig(path, 'must be an object')
    const unknown = Object.keys(value).find((member) => !known.includes(member))
    if (unknown !== undefined) throw invalidConfig(`${path}/${unknown}`, 'is not known')
    this.#object = value
    this.#path = path
  }

  integer(member: string, least: number, most: number, otherwise?: number): number {
    const value = this.#member(member, otherwise)
    if (!Number.isInteger(value) || (value as number) < least || (value as number) > most) {
      throw invalidConfig(`${this.#path}/${member}`, `must be an integer from ${least} to ${most}`)
    }
    return value as number
  }

  oneOf<T extends string>(member: string, allowed: readonly T[], otherwise: T): T {
    const value = this.#member(member, otherwise)
    if (!allowed.includes(value as T)) {
      throw invalidConfig(`${this.#path}/${member}`, `must be ${allowed.map((text) => `"${text}"`).join(' or ')}`)
    }
    return value as T
  }

  #member(member: string, otherwise: unknown): unknown {
    const value = ownMember(this.#object, member) ?? (Object.hasOwn(this.#object, member) ? null : otherwise)
    if (value === undefined) throw invalidConfig(`${this.#path}/${member}`, 'is required')
    return value
  }
}
