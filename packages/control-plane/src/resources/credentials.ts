import { ApiError, badRequest, refuseUnknownMembers } from '@millrace/openapi'
import type { JsonObject } from '@millrace/protocol'
import { created, deleted, updated } from '../audit/audited.ts'
import { MASK, type ShownDocument } from '../configuration/document-diff.ts'
import { CREDENTIAL_WRITTEN } from '../people/account-schemas.ts'
import type { Author } from '../people/author.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { type Credential, credentialTag } from './credential.ts'
import { type Condition, refuseUnlessTagged } from './resource-service.ts'
import { membersOf, readText } from './written-fields.ts'

const MAX_CREDENTIALS = 1_000
const MAX_VALUE_BYTES = 16 * 1024
const MEMBERS = membersOf(CREDENTIAL_WRITTEN)

/**
 * Secrets for user code: clients write them, no route reads them back, and they are sealed at rest. @see
 * contracts/control-plane.md §7 [D726]
 */
export class Credentials {
  readonly #workspace: Workspace
  #values: { readonly of: object; readonly values: ReadonlyMap<string, string> } = { of: {}, values: new Map() }

  constructor(workspace: Workspace) {
    this.#workspace = workspace
  }

  /** Ordered by creation. */
  list(): Credential[] {
    return [...this.#workspace.state.credentials.values()]
  }

  has(key: string): boolean {
    return this.#workspace.state.credentials.has(key)
  }

  /** All values in clear, for user code and webhook signatures only; the same map until a credential changes. */
  values(): ReadonlyMap<string, string> {
    const { credentials } = this.#workspace.state
    if (this.#values.of !== credentials) {
      const values = new Map(Array.from(credentials, ([key, { value }]) => [key, value]))
      this.#values = { of: credentials, values }
    }
    return this.#values.values
  }

  /** PUT: creates the credential, or changes its value. */
  put(by: Author, key: string, written: JsonObject, { ifMatch }: Condition = {}): Promise<Credential> {
    return this.#workspace.change(by, ({ credentials, at }) => {
      if (!/^[A-Za-z0-9_.-]{1,64}$/.test(key)) {
        throw badRequest('key must have 1 to 64 characters A-Z, a-z, 0-9, _, ., -')
      }
      const value = readText(written, 'value')
      if (Buffer.byteLength(value) > MAX_VALUE_BYTES) throw badRequest('value is too long')
      refuseUnknownMembers(written, MEMBERS)
      const saved = credentials.get(key)
      if (saved !== undefined) refuseUnlessTagged(credentialTag(saved), ifMatch)
      // If-Match cannot match a credential that does not exist.
      else if (ifMatch !== undefined) throw new ApiError('precondition_failed', 'Resource has changed')
      else if (credentials.size >= MAX_CREDENTIALS) throw new ApiError('conflict', 'Too many credentials')
      const credential = { key, value, createdAt: saved?.createdAt ?? at, updatedAt: at }
      return {
        changes: [{ kind: 'credential', id: key, value: credential }],
        audit: [
          saved === undefined
            ? created('credential', key)
            : updated('credential', key, shown(saved), shown(credential)),
        ],
        result: credential,
      }
    })
  }

  /** @throws ApiError 404 */
  remove(by: Author, key: string, { ifMatch }: Condition = {}): Promise<void> {
    return this.#workspace.change(by, ({ credentials }) => {
      const saved = credentials.get(key)
      if (saved === undefined) throw new ApiError('not_found', `Credential with key ${key} not found`)
      refuseUnlessTagged(credentialTag(saved), ifMatch)
      const changes = [{ kind: 'credential', id: key, value: undefined }] as const
      return { changes, audit: [deleted('credential', key)], result: undefined }
    })
  }
}

function shown({ value }: Credential): ShownDocument {
  return { plain: { value }, shown: { value: MASK } }
}
