import { createHash } from 'node:crypto'
import { ApiError } from '@millrace/openapi'
import { unavailable } from '../refusals.ts'
import { libraryCode, type PublishedLibrary } from './code.ts'
import type { CodeEntry, CodeRuntime, CodeToCheck } from './code-runtime.ts'
import type { LibraryShelf } from './linking.ts'

export interface JudgedCode {
  /** Undefined for a library. */
  readonly entry: CodeEntry | undefined
  readonly imports: readonly string[]
}

/** Maximum of concurrent checks; each may have 256 KB of code and 1 MB of libraries. */
const MAX_AT_ONCE = 64
const MAX_REMEMBERED = 1_000

/** Checks code before it is saved or tested: code that cannot run never reaches live traffic. */
export class CodeChecks {
  readonly #runtime: Pick<CodeRuntime, 'check'>
  /**
   * Code that passed lately, by a digest of the code and its libraries. A change is checked first outside, then again
   * inside the change: no other change then waits for a sandbox that runs a test.
   */
  readonly #passed = new Map<string, JudgedCode>()
  #running = 0

  constructor(runtime: Pick<CodeRuntime, 'check'>) {
    this.#runtime = runtime
  }

  /**
   * @throws ApiError 400 with the engine's text and the place in the user's source; 503 if too many checks are in
   * progress.
   */
  async judge(code: CodeToCheck, shelf: LibraryShelf): Promise<JudgedCode> {
    const libraries = librariesInReach(code, shelf)
    const digest = digestOf(code, libraries)
    const known = this.#passed.get(digest)
    if (known !== undefined) return known
    if (this.#running >= MAX_AT_ONCE) throw unavailable()
    this.#running++
    try {
      const check = await this.#runtime.check(code, libraries)
      if (check.ok) return this.#remember(digest, { entry: check.entry, imports: check.imports })
      const { error, line, column } = check
      const place = line === undefined || column === undefined ? {} : { details: { line, column } }
      throw new ApiError('bad_request', error, place)
    } finally {
      this.#running--
    }
  }

  #remember(digest: string, judged: JudgedCode): JudgedCode {
    if (this.#passed.size >= MAX_REMEMBERED) this.#passed.delete(this.#passed.keys().next().value!)
    this.#passed.set(digest, judged)
    return judged
  }
}

/**
 * Libraries that the code may import, with their own imports. Only the engine can determine the actual imports; a name
 * that does not appear in quotes is not imported.
 */
function librariesInReach({ code, ...self }: CodeToCheck, { importNames, find }: LibraryShelf): PublishedLibrary[] {
  const names = new Set(importNames)
  if (self.kind === 'library') names.delete(self.importName)
  const inReach: PublishedLibrary[] = []
  const waiting = [code]
  for (let text = waiting.pop(); text !== undefined; text = waiting.pop()) {
    for (const importName of names) {
      if (!text.includes(`"${importName}"`) && !text.includes(`'${importName}'`)) continue
      names.delete(importName)
      const version = find(importName)
      if (version === undefined || version === null) continue
      inReach.push(libraryCode(importName, version))
      waiting.push(version.code)
    }
  }
  return inReach
}

function digestOf(code: CodeToCheck, libraries: readonly PublishedLibrary[]): string {
  const texts = libraries.map(({ importName, language, code: text }) => [importName, language, text])
  return createHash('sha256')
    .update(JSON.stringify([code, texts]))
    .digest('base64')
}
