import type { JsonObject } from '@millrace/protocol'
import type { Snapshot } from '../workspace/snapshot.ts'
import { connectionKey } from './document.ts'
import type { DocumentError } from './document-errors.ts'
import { planConnections } from './planned-connections.ts'
import { type PlannedDestinations, planDestinations } from './planned-destinations.ts'
import { type PlannedLibraries, planLibraries } from './planned-libraries.ts'
import { type PlannedSources, planSources } from './planned-sources.ts'
import { type PlannedTransformations, planTransformations } from './planned-transformations.ts'
import type { PlannedChange, Planning } from './planning.ts'
import { readSections } from './sections.ts'

export interface Plan {
  /** In execution order: removals first. */
  readonly changes: readonly PlannedChange[]
  /**
   * If there are errors, the plan cannot be applied. `changes` then holds the resources without errors, and no
   * removals: an unreadable entry may stand for any resource.
   */
  readonly errors: readonly DocumentError[]
  readonly warning: string | undefined
}

/**
 * The changes that a document would make. Resources that it omits do not change, or are removed with `prune`.
 *
 * @see contracts/control-plane.md §9 [D716, D717]
 */
export async function planDocument(planning: Planning, document: JsonObject): Promise<Plan> {
  const sections = await readSections(planning, document)
  const sources = await planSources(planning, sections.sources)
  const transformationKeys = new Set(sections.transformations.map(({ key }) => key))
  const libraries = await planLibraries(planning, sections.libraries, transformationKeys)
  const transformations = await planTransformations(planning, sections.transformations, libraries)
  const attachable = thereWillBe(planning, planning.snapshot.transformations, transformations)
  const destinations = await planDestinations(planning, sections.destinations, attachable)
  const ends = {
    sources: thereWillBe(planning, planning.snapshot.sources, sources),
    destinations: thereWillBe(planning, planning.snapshot.destinations, destinations),
  }
  const connections = await planConnections(planning, sections.connections, ends)
  const code = { libraries: libraries.byKey, transformations }
  const named = { sources, ...code, destinations, connections: connections.keys }
  return {
    changes: [
      ...(planning.isPruning && planning.errors.count === 0 ? removals(planning.snapshot, named) : []),
      ...plannedOf(sources),
      ...plannedOf(libraries.byKey),
      ...plannedOf(transformations),
      ...plannedOf(destinations),
      ...connections.changes,
    ],
    errors: planning.errors.list,
    warning: warningOf(destinations),
  }
}

/** By key, including resources that stay because the document omits them. */
function thereWillBe<T extends { readonly key: string }>(
  { isPruning }: Planning,
  saved: ReadonlyMap<string, T>,
  planned: ReadonlyMap<string, { readonly value: T } | undefined>,
): Map<string, T | undefined> {
  const staying = isPruning ? [] : [...saved.values()]
  const all = new Map<string, T | undefined>(staying.map((resource) => [resource.key, resource]))
  for (const [key, entry] of planned) all.set(key, entry?.value)
  return all
}

interface Named {
  readonly sources: PlannedSources
  readonly libraries: PlannedLibraries['byKey']
  readonly transformations: PlannedTransformations
  readonly destinations: PlannedDestinations
  readonly connections: ReadonlySet<string>
}

/** Resources that the document omits: connections first, because they refer to the others. */
function removals(snapshot: Snapshot, named: Named): PlannedChange[] {
  const { sources, destinations, connections } = snapshot
  return [
    ...[...connections.values()].flatMap(({ id, sourceId, destinationId }) => {
      const key = connectionKey(sources.get(sourceId)!.key, destinations.get(destinationId)!.key)
      return named.connections.has(key) ? [] : [removal('connection', id, key)]
    }),
    ...unnamed('destination', destinations, named.destinations),
    ...unnamed('transformation', snapshot.transformations, named.transformations),
    ...unnamed('library', snapshot.libraries, named.libraries),
    ...unnamed('source', sources, named.sources),
  ]
}

function unnamed(
  kind: PlannedChange['kind'],
  saved: ReadonlyMap<string, { readonly id: string; readonly key: string }>,
  named: ReadonlyMap<string, unknown>,
): PlannedChange[] {
  return [...saved.values()].flatMap(({ id, key }) => (named.has(key) ? [] : [removal(kind, id, key)]))
}

function removal(kind: PlannedChange['kind'], id: string, key: string): PlannedChange {
  return { action: 'delete', kind, key, diff: [], change: { kind, id, value: undefined } }
}

function plannedOf(
  resources: ReadonlyMap<string, { readonly planned: PlannedChange | undefined } | undefined>,
): PlannedChange[] {
  return [...resources.values()].flatMap((entry) => entry?.planned ?? [])
}

/** Maximum of keys in a warning, which is a header. */
const MAX_NAMED = 20

function warningOf(destinations: PlannedDestinations): string | undefined {
  const warned = [...destinations].flatMap(([key, entry]) => {
    return entry?.warning === undefined ? [] : [{ key, warning: entry.warning }]
  })
  if (warned.length === 0) return undefined
  const keys = warned.slice(0, MAX_NAMED).map(({ key }) => key)
  if (warned.length > MAX_NAMED) keys.push(`${warned.length - MAX_NAMED} more`)
  return `${keys.join(', ')}: ${warned[0]!.warning}`
}
