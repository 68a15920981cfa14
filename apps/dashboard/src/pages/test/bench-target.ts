import type { Connection, Destination, DestinationDefinition, Source } from '@millrace/api-types'
import type { JsonObject, JsonValue } from '@millrace/protocol/json'
import { testBenchTexts } from '../../texts.ts'
import type { BenchSearch } from './bench-search.ts'

/** What a message is run through: one destination, or all that a source is connected to. */
export type BenchTarget =
  | { readonly kind: 'destination'; readonly id: string; readonly destination: Destination }
  | {
      readonly kind: 'source'
      readonly id: string
      readonly source: Source
      /** In the order of their connections; those that are off too. */
      readonly destinations: readonly Destination[]
    }

export interface Workspace {
  readonly sources: readonly Source[]
  readonly destinations: readonly Destination[]
  readonly connections: readonly Connection[]
}

/** Undefined when nothing is chosen, or what is chosen does not exist. */
export function targetOf(workspace: Workspace, search: BenchSearch): BenchTarget | undefined {
  const { sources, destinations, connections } = workspace
  if (search.destination !== undefined) {
    const destination = destinations.find(({ id }) => id === search.destination)
    return destination && { kind: 'destination', id: destination.id, destination }
  }
  const source = sources.find(({ id }) => id === search.source)
  if (source === undefined) return undefined
  const connected = connections
    .filter(({ sourceId, enabled }) => enabled && sourceId === source.id)
    .flatMap(({ destinationId }) => destinations.filter(({ id }) => id === destinationId))
  return { kind: 'source', id: source.id, source, destinations: connected }
}

/** Disabled things run only by force; a source's force also takes its disabled destinations. */
export function needsForce(target: BenchTarget): boolean {
  return target.kind === 'destination' ? !target.destination.enabled : !target.source.enabled
}

/** What the button says when it sends: it names where to. @see contracts/dashboard.md §7 [U10] */
export function sendText(
  target: BenchTarget,
  force: boolean,
  definitions: readonly DestinationDefinition[],
  override: JsonObject,
): string {
  if (target.kind === 'source') {
    const running = target.destinations.filter(({ enabled }) => enabled || force)
    return testBenchTexts.sendToDestinations(running.length)
  }
  const { name, type, config } = target.destination
  const hostKeys = definitions.find((each) => each.name === type)?.config.hostKeys ?? []
  const host = hostKeys.map((key) => hostOf(override[key] ?? config[key])).find((each) => each !== undefined)
  return testBenchTexts.sendToHost(host ?? name)
}

function hostOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? (URL.parse(value)?.host ?? undefined) : undefined
}
