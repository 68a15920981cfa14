import type { Connection } from '../connection.ts'
import { refuseUnsupported } from '../connections.ts'
import type { Destination } from '../destination.ts'
import type { Source } from '../source.ts'
import { readBoolean, readText } from '../written-fields.ts'
import { connectionKey } from './document.ts'
import { newIds, type PlannedChange, type Planning, refuseUnknown } from './planning.ts'
import type { Entry } from './sections.ts'

const MEMBERS = ['source', 'destination', 'enabled']

/** What there will be by key; undefined is a resource with errors. */
export interface Ends {
  readonly sources: ReadonlyMap<string, Source | undefined>
  readonly destinations: ReadonlyMap<string, Destination | undefined>
}

export interface PlannedConnections {
  readonly changes: readonly PlannedChange[]
  /** Keys of all that the document names. */
  readonly keys: ReadonlySet<string>
}

/** What a document makes of the connections. */
export function planConnections(planning: Planning, entries: readonly Entry[], ends: Ends): PlannedConnections {
  const { snapshot, errors, at, nextRevision } = planning
  const savedByEnds = new Map(
    Array.from(snapshot.connections.values(), (saved) => [connectionKey(saved.sourceId, saved.destinationId), saved]),
  )
  const ids = newIds(planning, entries.length)
  const keys = new Set<string>()
  const changes: PlannedChange[] = []
  for (const { path, written } of entries) {
    refuseUnknown(planning, path, written, MEMBERS)
    const isEnabled = errors.at(`${path}/enabled`, () => readBoolean(written, 'enabled', true))
    const sourceKey = errors.at(`${path}/source`, () => readText(written, 'source'))
    const destinationKey = errors.at(`${path}/destination`, () => readText(written, 'destination'))
    if (sourceKey === undefined || destinationKey === undefined) continue
    const source = findEnd(planning, `${path}/source`, 'Source', ends.sources, sourceKey)
    const destination = findEnd(planning, `${path}/destination`, 'Destination', ends.destinations, destinationKey)
    const key = connectionKey(sourceKey, destinationKey)
    if (keys.has(key)) errors.add(path, 'Connection already exists')
    keys.add(key)
    if (source === undefined || destination === undefined || isEnabled === undefined) continue
    errors.at(path, () => refuseUnsupported(planning.types, source, destination))
    const saved = savedByEnds.get(connectionKey(source.id, destination.id))
    if (saved?.isEnabled === isEnabled) continue
    const identity = saved ?? {
      id: ids.next().value,
      sourceId: source.id,
      destinationId: destination.id,
      createdAt: at,
    }
    const value: Connection = { ...identity, isEnabled, updatedAt: at, revision: nextRevision }
    const change = { kind: 'connection', id: value.id, value } as const
    if (saved === undefined) changes.push({ action: 'create', kind: 'connection', key, diff: [], change })
    else {
      const diff = [{ path: '/enabled', from: saved.isEnabled, to: isEnabled }]
      changes.push({ action: 'update', kind: 'connection', key, diff, change })
    }
  }
  return { changes, keys }
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
