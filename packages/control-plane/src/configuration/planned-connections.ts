import type { Connection } from '../resources/connection.ts'
import { readConnectionRules } from '../resources/connection-rules-schema.ts'
import { refuseUnsupported } from '../resources/connections.ts'
import type { Destination } from '../resources/destination.ts'
import type { Source } from '../resources/source.ts'
import { readBoolean, readText } from '../resources/written-fields.ts'
import { connectionDocument, connectionKey } from './document.ts'
import { type DiffLine, documentDiff, openDocument } from './document-diff.ts'
import { newIds, type PlannedChange, type Planning, refuseUnknown } from './planning.ts'
import type { SectionEntry } from './sections.ts'

const MEMBERS = ['source', 'destination', 'enabled', 'rules']

/** Resources after the change, by key; undefined for one with errors. */
export interface Ends {
  readonly sources: ReadonlyMap<string, Source | undefined>
  readonly destinations: ReadonlyMap<string, Destination | undefined>
}

export interface PlannedConnections {
  readonly changes: readonly PlannedChange[]
  /** Keys of all resources in the document. */
  readonly keys: ReadonlySet<string>
}

/** Plans the connections of a document. */
export async function planConnections(
  planning: Planning,
  entries: readonly SectionEntry[],
  ends: Ends,
): Promise<PlannedConnections> {
  const { snapshot, errors, turns } = planning
  const savedByEnds = new Map(
    Array.from(snapshot.connections.values(), (saved) => [connectionKey(saved.sourceId, saved.destinationId), saved]),
  )
  const keys = new Set<string>()
  const changed: Change[] = []
  for (const entry of entries) {
    await turns.next()
    if (errors.isFull) break
    const before = errors.count
    const found = readConnection(planning, entry, ends)
    if (found === undefined) continue
    const { key, source, destination, isEnabled, rules } = found
    const isFaulty = errors.count > before
    if (keys.has(key)) errors.add(entry.path, 'Connection already exists')
    keys.add(key)
    if (isFaulty || source === undefined || destination === undefined || isEnabled === undefined) continue
    errors.at(entry.path, () => refuseUnsupported(planning.types, source, destination))
    const saved = savedByEnds.get(connectionKey(source.id, destination.id))
    const diff = saved === undefined ? [] : diffOf(saved, { isEnabled, rules })
    if (saved === undefined || diff.length > 0) {
      changed.push({ key, sourceId: source.id, destinationId: destination.id, isEnabled, rules, saved, diff })
    }
  }
  const ids = await newIds(planning, changed.filter(({ saved }) => saved === undefined).length)
  return { changes: changed.map((change) => plannedChange(planning, change, ids)), keys }
}

interface Change extends Pick<Connection, 'sourceId' | 'destinationId' | 'isEnabled' | 'rules'> {
  readonly key: string
  readonly saved: Connection | undefined
  readonly diff: readonly DiffLine[]
}

type Settings = Pick<Connection, 'isEnabled' | 'rules'>

function diffOf(saved: Settings, planned: Settings): DiffLine[] {
  return documentDiff(openDocument(connectionDocument(saved)), openDocument(connectionDocument(planned)))
}

function plannedChange(
  { at, nextRevision }: Planning,
  { key, saved, diff, ...fields }: Change,
  ids: Iterator<string, string>,
): PlannedChange {
  const identity = saved ?? { id: ids.next().value, createdAt: at }
  const value: Connection = { ...identity, ...fields, updatedAt: at, revision: nextRevision }
  const change = { kind: 'connection', id: value.id, value } as const
  if (saved === undefined) return { action: 'create', kind: 'connection', key, diff: [], change }
  return { action: 'update', kind: 'connection', key, diff, change }
}

/** Reads both ends of an entry; an end is undefined if it has errors or does not exist. */
function readConnection(planning: Planning, { path, written }: SectionEntry, ends: Ends) {
  const { errors } = planning
  refuseUnknown(planning, path, written, MEMBERS)
  const isEnabled = errors.at(`${path}/enabled`, () => readBoolean(written, 'enabled', true))
  const rules = errors.at(path, () => readConnectionRules(written, undefined))
  const sourceKey = errors.at(`${path}/source`, () => readText(written, 'source'))
  const destinationKey = errors.at(`${path}/destination`, () => readText(written, 'destination'))
  if (sourceKey === undefined || destinationKey === undefined) return undefined
  return {
    key: connectionKey(sourceKey, destinationKey),
    source: findEnd(planning, `${path}/source`, 'Source', ends.sources, sourceKey),
    destination: findEnd(planning, `${path}/destination`, 'Destination', ends.destinations, destinationKey),
    isEnabled,
    rules,
  }
}

function findEnd<T>(
  { errors }: Planning,
  path: string,
  what: string,
  ends: ReadonlyMap<string, T | undefined>,
  key: string,
): T | undefined {
  if (!ends.has(key)) errors.add(path, `${what} with key ${key} not found`)
  return ends.get(key)
}
