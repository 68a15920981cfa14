import { stripTypeScriptTypes } from 'node:module'
import type { JsonObject } from '@millrace/protocol'
import type { PublishedLibrary } from '../transformations/code.ts'
import type {
  CodeCheck,
  CodeEntry,
  CodeRun,
  CodeRunResult,
  CodeRuntime,
  CodeToCheck,
  EventRun,
} from '../transformations/code-runtime.ts'

const ENTRIES: readonly CodeEntry[] = ['transformEvent', 'transformBatch']
const IMPORT = /(import [^'"\n]*from )["']([^'"\n]+)["']/g

/** Runs code as modules of this process: for tests with trusted code. */
export const moduleRuntime: CodeRuntime = {
  async check(code: CodeToCheck, libraries: readonly PublishedLibrary[]): Promise<CodeCheck> {
    const imports = Array.from(code.code.matchAll(IMPORT), ([, , name]) => name!)
    try {
      const exported = await load(code, libraries)
      if (code.kind === 'library') return { ok: true, imports }
      const found = ENTRIES.filter((name) => name in exported)
      const [entry] = found
      if (entry !== undefined && found.length === 1) return { ok: true, entry, imports }
      return { ok: false, error: `Expected one of ${ENTRIES}. Found ${found}` }
    } catch (error) {
      if (error instanceof SyntaxError) return { ok: false, error: String(error), line: 1, column: 1 }
      return { ok: false, error: (error as Error).message }
    }
  },

  async run({ steps, events }: CodeRun): Promise<CodeRunResult> {
    const [step] = steps
    const { transformEvent } = await load(step!, step!.libraries)
    const results: EventRun[] = []
    for (const { event, metadata } of events) {
      try {
        const returned = await transformEvent!(structuredClone(event), () => metadata)
        results.push(returned === null ? { dropped: true } : { events: [returned].flat() as JsonObject[] })
      } catch (error) {
        results.push({ error: String(error) })
      }
    }
    return { results, logs: [], usedCredentials: [] }
  },
}

type Exported = Readonly<Record<string, (event: JsonObject, metadata: () => JsonObject) => unknown>>

async function load(
  code: Pick<PublishedLibrary, 'language' | 'code'>,
  libraries: readonly PublishedLibrary[],
): Promise<Exported> {
  return (await import(/* @vite-ignore */ addressOf(code, libraries))) as Exported
}

/** URL of a module with the code. */
function addressOf(
  { language, code }: Pick<PublishedLibrary, 'language' | 'code'>,
  libraries: readonly PublishedLibrary[],
): string {
  const plain = language === 'typescript' ? stripTypeScriptTypes(code) : code
  const linked = plain.replace(IMPORT, (_, before: string, name: string) => {
    const library = libraries.find(({ importName }) => importName === name)
    if (library === undefined) throw new Error(`import from ${name} failed. Module not found.`)
    return `${before}"${addressOf(library, libraries)}"`
  })
  return `data:text/javascript,${encodeURIComponent(linked)}`
}
