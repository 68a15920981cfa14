import ivm from 'isolated-vm'
import type { CheckedCode, CheckResult, EntryPoint, LibraryCode } from '../code.ts'
import { MAX_FAILURE_CHARS } from '../limits.ts'
import { engineText } from './engine-text.ts'
import { BASE_PLACE, LIBRARY_PLACE } from './failure-text.ts'
import { type LinkedModules, linkedModules } from './linked-modules.ts'
import { RefusedCodeError, strippedCode, TOO_DEEP } from './stripped-code.ts'
import { strippedLibraries } from './versions.ts'

const ENTRIES: readonly EntryPoint[] = ['transformEvent', 'transformBatch']

/** Whether code may be saved. It is compiled and linked, and none of it runs. */
export async function check(
  { language, code: written, ...checked }: CheckedCode,
  available: readonly LibraryCode[],
  memoryMb: number,
): Promise<CheckResult> {
  const isolate = new ivm.Isolate({ memoryLimit: memoryMb })
  try {
    const code = await strippedCode(written, language)
    const libraries = await strippedLibraries(available)
    const place = checked.kind === 'library' ? `${LIBRARY_PLACE}${checked.importName}` : BASE_PLACE
    const modules = linkedModules(isolate, { code, libraries }, place)
    const context = isolate.createContextSync()
    modules.base.instantiateSync(context, (specifier) => modules.libraries.get(specifier)!)
    const imports = [...new Set(modules.base.dependencySpecifiers.map(engineText))]
    if (checked.kind === 'library') return { ok: true, imports }

    const found = ENTRIES.filter((name) => exportsName(isolate, context, modules, name))
    const [entry] = found
    if (entry !== undefined && found.length === 1) return { ok: true, entry, imports }
    const expected = `Expected one of transformEvent,transformBatch. Found ${found.join(',')}`
    if (found.length > 0) return { ok: false, error: expected }
    const hint = HINTS.find(({ name, isExported }) => {
      return isExported
        ? exportsName(isolate, context, modules, name)
        : declares(isolate, `${code}\nexport { ${name} }`, place)
    })
    return { ok: false, error: hint === undefined ? expected : `${expected}. ${hint.text}` }
  } catch (error) {
    if (!isRefusal(error)) throw error
    return refusal(error)
  } finally {
    if (!isolate.isDisposed) isolate.dispose()
  }
}

/** What code has in place of an entry, and what to write instead; the first that fits is told. */
const HINTS: readonly { readonly name: string; readonly isExported: boolean; readonly text: string }[] = [
  ...ENTRIES.map((name) => ({
    name,
    isExported: false,
    text: `${name} is there but not exported: write "export" before it`,
  })),
  ...[true, false].map((isExported) => ({
    name: 'transform',
    isExported,
    text: 'transform is the entry of an older version: write "export function transformBatch(events, metadata)", which gets and returns the same list',
  })),
  {
    name: 'default',
    isExported: true,
    text: 'A default export is not called: write "export function transformEvent(event, metadata)"',
  },
]

/** Whether a module that ends so can be compiled: whether it declares what its last line exports. */
function declares(isolate: ivm.Isolate, code: string, filename: string): boolean {
  try {
    isolate.compileModuleSync(code, { filename })
    return true
  } catch {
    return false
  }
}

/** Asks the engine's linker, so that nothing has to be evaluated. */
function exportsName(
  isolate: ivm.Isolate,
  context: ivm.Context,
  { base, libraries }: LinkedModules,
  name: string,
): boolean {
  const probe = isolate.compileModuleSync(`export { ${name} } from '${BASE_PLACE}'`)
  try {
    probe.instantiateSync(context, (specifier) => (specifier === BASE_PLACE ? base : libraries.get(specifier)!))
    return true
  } catch {
    return false
  }
}

/** Whether it is about the code: an error of the engine's parser or linker, which comes as a copy, or one of ours. */
export function isRefusal(error: unknown): error is Error {
  if (error instanceof RefusedCodeError) return true
  return error instanceof Error && (error.name === 'SyntaxError' || isStackOverflow(error))
}

/** Of the engine's parser. */
function isStackOverflow({ name, message }: Error): boolean {
  return name === 'RangeError' && message.startsWith('Maximum call stack size exceeded')
}

/** The engine puts the place behind its text: `Unexpected token ';' [base transformation:3:7]`. */
const PLACED = /^([\s\S]*) \[(?:base transformation|library [\p{L}\p{N}]+):(\d+):(\d+)\]$/u

export function refusal(error: Error): Extract<CheckResult, { ok: false }> {
  if (error instanceof RefusedCodeError) {
    const { message, line, column } = error
    return {
      ok: false,
      error: message.slice(0, MAX_FAILURE_CHARS),
      ...(line === undefined ? {} : { line }),
      ...(column === undefined ? {} : { column }),
    }
  }
  if (isStackOverflow(error)) return { ok: false, error: TOO_DEEP }
  const { name, message } = error
  const [, text = message, line, column] = PLACED.exec(message) ?? []
  const place = line === undefined ? {} : { line: Number(line), column: Number(column) }
  return { ok: false, error: `${name}: ${text}`.slice(0, MAX_FAILURE_CHARS), ...place }
}
