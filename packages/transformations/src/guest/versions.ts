import type { LibraryCode, TransformationCode } from '../code.ts'
import { RefusedCodeError, strippedCode } from './stripped-code.ts'

/** A version as the engine takes it. */
export interface StrippedVersion {
  readonly transformationId: string
  readonly versionId: string
  readonly code: string
  /** By import name. */
  readonly libraries: ReadonlyMap<string, string>
  /** Why it cannot run: code that a test run gives need not have been checked. */
  readonly refusal?: string
}

export async function strippedVersion(version: TransformationCode): Promise<StrippedVersion> {
  const { transformationId, versionId, language } = version
  try {
    const libraries = await strippedLibraries(version.libraries)
    return { transformationId, versionId, code: await strippedCode(version.code, language), libraries }
  } catch (error) {
    if (!(error instanceof RefusedCodeError)) throw error
    return { transformationId, versionId, code: '', libraries: new Map(), refusal: error.message }
  }
}

/** By import name. */
export async function strippedLibraries(libraries: readonly LibraryCode[]): Promise<ReadonlyMap<string, string>> {
  const stripped = libraries.map(async ({ importName, code, language }) => {
    return [importName, await strippedCode(code, language)] as const
  })
  return new Map(await Promise.all(stripped))
}

/** Characters of all versions that a child keeps; the least recently used is left first, and asked for again. */
const MAX_CHARS = 64 * 1024 * 1024

/** The versions that live runs use, stripped once. */
export class Versions {
  readonly #versions = new Map<string, StrippedVersion>()
  #chars = 0

  get(versionId: string): StrippedVersion | undefined {
    const version = this.#versions.get(versionId)
    if (version === undefined) return undefined
    this.#versions.delete(versionId)
    this.#versions.set(versionId, version)
    return version
  }

  async add(code: TransformationCode): Promise<void> {
    if (this.#versions.has(code.versionId)) return
    const version = await strippedVersion(code)
    this.#versions.set(version.versionId, version)
    this.#chars += size(version)
    for (const [versionId, oldest] of this.#versions) {
      if (this.#chars <= MAX_CHARS || versionId === version.versionId) break
      this.#versions.delete(versionId)
      this.#chars -= size(oldest)
    }
  }
}

function size(version: StrippedVersion): number {
  return [...version.libraries.values()].reduce((sum, code) => sum + code.length, version.code.length)
}
