import { readFileSync } from 'node:fs'
import path from 'node:path'
import { isJsonObject, type JsonObject, type JsonValue, ownMember } from '@millrace/protocol'

/** Sections of the document whose code is in files, named by `file`; test files are named by `tests`. */
const SECTIONS = ['libraries', 'transformations'] as const

/** A file of the document that cannot be read. */
export interface MissingFile {
  /** JSON pointer of the file name. */
  readonly path: string
  /** For people. */
  readonly why: string
}

/**
 * The document in the form of the server: with code and tests instead of file names.
 *
 * @param folder of the document's file; file names are relative to it.
 * @see contracts/control-plane.md §9 [D716]
 */
export function withCode(document: JsonObject, folder: string): { document: JsonObject; missing: MissingFile[] } {
  const missing: MissingFile[] = []
  const read = <T>(at: string, name: string, parse: (text: string) => T): T | undefined => {
    try {
      return parse(readFileSync(path.resolve(folder, name), 'utf8'))
    } catch (error) {
      const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT'
      missing.push({ path: at, why: isAbsent ? `${name} does not exist` : `${name}: ${(error as Error).message}` })
      return undefined
    }
  }
  const filled = eachEntry(document, (entry, at) => {
    const { file, tests, ...rest } = entry
    const code = typeof file === 'string' ? read(`${at}/file`, file, (text) => text) : undefined
    const stored = typeof tests === 'string' ? read(`${at}/tests`, tests, parseTests) : tests
    return {
      ...(isTypeScript(file) ? { language: 'typescript' } : {}),
      ...rest,
      // The server refuses a value that is not a file name.
      ...(file === undefined || typeof file === 'string' ? {} : { file }),
      ...(code === undefined ? {} : { code }),
      ...(stored === undefined ? {} : { tests: stored }),
    }
  })
  return { document: filled, missing }
}

export interface CodeInFiles {
  /** With file names instead of code and tests. */
  readonly document: JsonObject
  /** Contents of the files, by name. */
  readonly files: ReadonlyMap<string, CodeFile>
}

export interface CodeFile {
  readonly text: string
  /** Whether a file already has this content, possibly in another form. */
  isIn(text: string): boolean
}

/**
 * Moves code and tests of a server's document into files. Different contents never share a file.
 *
 * @param written the existing document: its file names stay, as does code inside the document.
 * @param folder of the document's file; file names are relative to it.
 */
export function inFiles(pulled: JsonObject, written: JsonObject, folder: string): CodeInFiles {
  const files = new PulledFiles(written, folder)
  const document = eachEntry(pulled, (entry, _, section, key) => {
    const own = entryOf(written, section, key)
    const { code, tests, ...rest } = entry
    const ending = rest['language'] === 'typescript' ? 'ts' : 'js'
    const members: JsonObject = { ...rest }
    if (typeof code === 'string' && typeof ownMember(own, 'code') !== 'string') {
      const file = { text: code, isIn: (text: string) => text === code }
      members['file'] = files.add(file, nameIn(own, 'file'), `./${section}/${key}`, `.${ending}`)
    } else if (code !== undefined) members['code'] = code
    if (Array.isArray(tests) && !Array.isArray(ownMember(own, 'tests'))) {
      const json = `${JSON.stringify({ tests }, null, 2)}\n`
      const file = { text: json, isIn: (text: string) => holdsTests(text, tests) }
      members['tests'] = files.add(file, nameIn(own, 'tests'), `./${section}/${key}`, '.tests.json')
    } else if (tests !== undefined) members['tests'] = tests
    return members
  })
  return { document, files: files.byName }
}

/** The files of a pull, and their names. */
class PulledFiles {
  readonly byName = new Map<string, CodeFile>()
  readonly #byPlace = new Map<string, CodeFile>()
  /** Places in lower case: some file systems ignore letter case. */
  readonly #taken = new Set<string>()
  readonly #folder: string

  /** @param written its entries keep their files, whether they were pulled or not. */
  constructor(written: JsonObject, folder: string) {
    this.#folder = folder
    eachEntry(written, (entry) => {
      for (const name of [nameIn(entry, 'file'), nameIn(entry, 'tests')]) {
        if (name !== undefined) this.#take(name)
      }
      return entry
    })
  }

  /**
   * @param own the existing name; entries share a file as long as their contents are the same.
   * @returns the name: `own`, or else the first free one of `stem` with `ending`.
   */
  add(file: CodeFile, own: string | undefined, stem: string, ending: string): string {
    const shared = own === undefined ? undefined : this.#byPlace.get(this.#placeOf(own))
    if (own !== undefined && shared?.isIn(file.text)) return own
    const name = own === undefined || shared !== undefined ? this.#freeName(stem, ending) : own
    this.byName.set(name, file)
    this.#byPlace.set(this.#placeOf(name), file)
    this.#take(name)
    return name
  }

  #freeName(stem: string, ending: string): string {
    let name = `${stem}${ending}`
    for (let n = 2; this.#taken.has(this.#placeOf(name).toLowerCase()); n++) name = `${stem}-${n}${ending}`
    return name
  }

  #take(name: string): void {
    this.#taken.add(this.#placeOf(name).toLowerCase())
  }

  #placeOf(name: string): string {
    return path.resolve(this.#folder, name)
  }
}

function eachEntry(
  document: JsonObject,
  change: (entry: JsonObject, at: string, section: string, key: string) => JsonObject,
): JsonObject {
  const changed = { ...document }
  for (const section of SECTIONS) {
    const entries = ownMember(document, section)
    if (!isJsonObject(entries)) continue
    changed[section] = Object.fromEntries(
      Object.entries(entries).map(([key, entry]): [string, JsonValue] => {
        return [key, isJsonObject(entry) ? change(entry, `/${section}/${key}`, section, key) : entry]
      }),
    )
  }
  return changed
}

function entryOf(document: JsonObject, section: string, key: string): JsonObject {
  const entries = ownMember(document, section)
  const entry = isJsonObject(entries) ? ownMember(entries, key) : undefined
  return isJsonObject(entry) ? entry : {}
}

function nameIn(entry: JsonObject, member: string): string | undefined {
  const name = ownMember(entry, member)
  return typeof name === 'string' ? name : undefined
}

function isTypeScript(file: JsonValue | undefined): boolean {
  return typeof file === 'string' && /\.[mc]?ts$/.test(file)
}

/** A list of tests, alone or in the form of the route. */
function parseTests(text: string): JsonValue {
  const value = JSON.parse(text) as JsonValue
  return (isJsonObject(value) ? ownMember(value, 'tests') : value) ?? null
}

function holdsTests(text: string, tests: readonly JsonValue[]): boolean {
  try {
    return JSON.stringify(parseTests(text)) === JSON.stringify(tests)
  } catch {
    return false
  }
}
