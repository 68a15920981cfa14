import { isJsonObject, type JsonObject, ownMember } from '@millrace/protocol'
import { DOCUMENT_FORM } from './document.ts'
import { memberPath } from './document-errors.ts'
import { type Planning, refuseUnknown } from './planning.ts'

/** What a document says of one resource. */
export interface Entry {
  readonly key: string
  /** JSON pointer. */
  readonly path: string
  readonly written: JsonObject
}

export interface Sections {
  readonly sources: readonly Entry[]
  readonly destinations: readonly Entry[]
  /** Their key is the number in the list. */
  readonly connections: readonly Entry[]
}

/** The parts of the document that this version has none of yet; they may be there, empty. */
const NOT_AVAILABLE = ['libraries', 'transformations']
const KNOWN = ['millrace', 'sources', 'destinations', 'connections', ...NOT_AVAILABLE]

/** Takes a document apart; what has not the form of one becomes an error. @see contracts/control-plane.md §9 [D715] */
export function readSections(planning: Planning, document: JsonObject): Sections {
  const { errors } = planning
  if (document['millrace'] !== DOCUMENT_FORM) errors.add('/millrace', `must be ${DOCUMENT_FORM}`)
  refuseUnknown(planning, '', document, KNOWN)
  for (const section of NOT_AVAILABLE) {
    const entries = ownMember(document, section) ?? {}
    if (!isJsonObject(entries)) errors.add(`/${section}`, 'must be an object')
    else if (Object.keys(entries).length > 0) errors.add(`/${section}`, notAvailable(section))
  }
  return {
    sources: readEntries(planning, document, 'sources'),
    destinations: readEntries(planning, document, 'destinations'),
    connections: readList(planning, document, 'connections'),
  }
}

export function notAvailable(what: string): string {
  return `${what} are not available in this version`
}

function readEntries({ errors }: Planning, document: JsonObject, section: string): Entry[] {
  if (!Object.hasOwn(document, section)) return []
  const entries = document[section]
  if (!isJsonObject(entries)) {
    errors.add(`/${section}`, 'must be an object')
    return []
  }
  return Object.entries(entries).flatMap(([key, written]) => {
    const path = memberPath(`/${section}`, key)
    if (!/^[a-z0-9-]{1,64}$/.test(key)) errors.add(path, 'must have a key of 1 to 64 characters a-z, 0-9 and -')
    else if (isJsonObject(written)) return [{ key, path, written }]
    else errors.add(path, 'must be an object')
    return []
  })
}

function readList({ errors }: Planning, document: JsonObject, section: string): Entry[] {
  if (!Object.hasOwn(document, section)) return []
  const list = document[section]
  if (!Array.isArray(list)) {
    errors.add(`/${section}`, 'must be a list')
    return []
  }
  return list.flatMap((written, i) => {
    const path = `/${section}/${i}`
    if (isJsonObject(written)) return [{ key: String(i), path, written }]
    errors.add(path, 'must be an object')
    return []
  })
}
