import { ApiError, unavailable } from '../api-error.ts'
import type { Snapshot } from '../snapshot.ts'
import { type LibraryCode, libraryCode } from './code.ts'
import type { CodeEntry, CodeRuntime, CodeToCheck } from './code-runtime.ts'
import { type FindLibrary, publishedLibraries } from './linking.ts'

export interface JudgedCode {
  /** Undefined for a library. */
  readonly entry: CodeEntry | undefined
  readonly imports: readonly string[]
}

/** Code that is judged at the same time; each may have 256 KB, and libraries of 1 MB. */
const MAX_AT_ONCE = 64

/** Judges code before it is saved or tested, so that what cannot run never reaches live traffic. */
export class CodeChecks {
  readonly #runtime: Pick<CodeRuntime, 'check'>
  #running = 0

  constructor(runtime: Pick<CodeRuntime, 'check'>) {
    this.#runtime = runtime
  }

  /**
   * @param find which version of a library its import name stands for, of those of the snapshot.
   * @throws ApiError 400 with the text of the engine and the place in the user's own source; 503 if too many are judged.
   */
  async judge(code: CodeToCheck, snapshot: Snapshot, find = publishedLibraries(snapshot)): Promise<JudgedCode> {
    if (this.#running >= MAX_AT_ONCE) throw unavailable()
    this.#running++
    try {
      const check = await this.#runtime.check(code, librariesInReach(code, snapshot, find))
      if (check.ok) return { entry: check.entry, imports: check.imports }
      const { error, line, column } = check
      const place = line === undefined || column === undefined ? {} : { details: { line, column } }
      throw new ApiError('bad_request', error, place)
    } finally {
      this.#running--
    }
  }
}

/**
 * Libraries that the code may import, with those that they import. Which ones it does only the engine can tell; a name that
 * nowhere stands in quotes is none.
 */
function librariesInReach({ code, ...self }: CodeToCheck, { libraries }: Snapshot, find: FindLibrary): LibraryCode[] {
  const inReach = new Map<string, LibraryCode>()
  const waiting = Array.from(libraries.values(), ({ importName }) => importName).filter(
    (importName) => code.includes(`"${importName}"`) || code.includes(`'${importName}'`),
  )
  for (let importName = waiting.pop(); importName !== undefined; importName = waiting.pop()) {
    const version = find(importName)
    const isSelf = self.kind === 'library' && self.importName === importName
    if (version === undefined || version === null || isSelf || inReach.has(importName)) continue
    inReach.set(importName, libraryCode(importName, version))
    waiting.push(...version.imports)
  }
  return [...inReach.values()]
}
