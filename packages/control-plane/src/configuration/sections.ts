import { isJsonObject, type JsonObject, memberPath } from '@millrace/protocol'
import { DOCUMENT_FORM } from './document.ts'
import { type Planning, refuseUnknown } from './planning.ts'

/** One resource in a document. */
export interface SectionEntry {
  readonly key: string
  /** JSON pointer. */
  readonly path: string
  readonly written: JsonObject
}

export interface Sections {
  readonly sources: readonly SectionEntry[]
  readonly libraries: readonly SectionEntry[]
  readonly transformations: readonly SectionEntry[]
  readonly destinations: readonly SectionEntry[]
  /** The key is the index in the list. */
  readonly connections: readonly SectionEntry[]
}

const KNOWN = ['millrace', 'sources', 'libraries', 'transformations', 'destinations', 'connections']

/**
 * Splits a document into its resources; a malformed part becomes an error. @see contracts/control-plane.md §9 [D715]
 */
export async function readSections(planning: Planning, document: JsonObject): Promise<Sections> {
  const { errors } = planning
  if (document['millrace'] !== DOCUMENT_FORM) errors.add('/millrace', `must be ${DOCUMENT_FORM}`)
  refuseUnknown(planning, '', document, KNOWN)
  return {
    sources: await readEntries(planning, document, 'sources'),
    libraries: await readEntries(planning, document, 'libraries'),
    transformations: await readEntries(planning, document, 'transformations'),
    destinations: await readEntries(planning, document, 'destinations'),
    connections: await readList(planning, document, 'connections'),
  }
}

async function readEntries(
  { errors, turns }: Planning,
  document: JsonObject,
  section: string,
): Promise<SectionEntry[]> {
  const { [section]: entries = {} } = document
  if (!isJsonObject(entries)) {
    errors.add(`/${section}`, 'must be an object')
    return []
  }
  const read: SectionEntry[] = []
  for (const [key, written] of Object.entries(entries)) {
    await turns.next()
    const path = memberPath(`/${section}`, key)
    if (!/^[a-z0-9-]{1,64}$/.test(key)) errors.add(path, 'must have a key of 1 to 64 characters a-z, 0-9 and -')
    else if (isJsonObject(written)) read.push({ key, path, written })
    else errors.add(path, 'must be an object')
  }
  return read
}

async function readList({ errors, turns }: Planning, document: JsonObject, section: string): Promise<SectionEntry[]> {
  const { [section]: list = [] } = document
  if (!Array.isArray(list)) {
    errors.add(`/${section}`, 'must be a list')
    return []
  }
  const read: SectionEntry[] = []
  for (const [i, written] of list.entries()) {
    await turns.next()
    const path = `/${section}/${i}`
    if (isJsonObject(written)) read.push({ key: String(i), path, written })
    else errors.add(path, 'must be an object')
  }
  return read
}
