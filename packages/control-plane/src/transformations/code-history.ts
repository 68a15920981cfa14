import { notFound } from '@millrace/openapi'
import { formatTime, type JsonObject } from '@millrace/protocol'
import type { Author } from '../people/author.ts'
import type { ControlStore } from '../store/control-store.ts'
import type { CodeOwner } from '../workspace/change.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { CodeVersion, CodeVersionHeader } from './code.ts'

/** Maximum of versions in a list; every version can be read by its id. */
const MAX_LISTED = 1_000

/** The versions of transformations or libraries; they stay readable after their owner is removed. */
export class CodeHistory {
  readonly #store: Pick<ControlStore, 'codeVersions' | 'codeVersion'>
  readonly #kind: CodeOwner['kind']

  constructor(store: Pick<ControlStore, 'codeVersions' | 'codeVersion'>, kind: CodeOwner['kind']) {
    this.#store = store
    this.#kind = kind
  }

  /** The newest 1,000, ordered by creation. @throws ApiError 404 */
  async list(ownerId: string): Promise<CodeVersionHeader[]> {
    const versions = await this.#store.codeVersions({ kind: this.#kind, id: ownerId }, MAX_LISTED)
    // Every transformation or library has a version.
    if (versions.length === 0) throw this.#notFound(ownerId)
    return versions
  }

  /** @throws ApiError 404 */
  async get(ownerId: string, id: string): Promise<CodeVersion> {
    const version = await this.#store.codeVersion({ kind: this.#kind, id: ownerId }, id)
    if (version === undefined) throw this.#notFound(id)
    return version
  }

  #notFound(id: string) {
    return notFound(this.#kind === 'library' ? 'Library' : 'Transformation', id)
  }
}

export function newVersion(
  workspace: Pick<Workspace, 'newId'>,
  by: Author,
  at: number,
  { language, code, imports }: Pick<CodeVersion, 'language' | 'code' | 'imports'>,
): CodeVersion {
  return { id: workspace.newId(at), language, code, imports, pins: null, createdAt: at, createdBy: by.actor }
}

/** @param publishedId of the published version. */
export function versionHeaderJson({ id, createdAt, createdBy }: CodeVersionHeader, publishedId?: string): JsonObject {
  return { versionId: id, createdAt: formatTime(createdAt), createdBy, published: id === publishedId }
}

export function versionJson(version: CodeVersion, publishedId?: string): JsonObject {
  const { language, code, imports } = version
  return { ...versionHeaderJson(version, publishedId), language, code, imports: [...imports] }
}
