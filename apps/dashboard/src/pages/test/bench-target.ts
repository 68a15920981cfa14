import type { Connection, Destination, DestinationDefinition, Source } from '@millrace/api-types'
import type { JsonObject, JsonValue } from '@millrace/protocol/json'
import { testBenchTexts } from '../../texts.ts'
import type { BenchSearch } from './bench-search.ts'

/** The target of a message: one destination, or all destinations of a source. */
export type BenchTarget =
  | { readonly kind: 'destination'; readonly id: string; readonly destination: Destination }
  | {
      readonly kind: 'source'
      readonly id: string
      readonly source: Source
      /** Ordered by their connections, including disabled ones. */
      readonly destinations: readonly Destination[]
    }

export interface Workspace {
  readonly sources: readonly Source[]
  readonly destinations: readonly Destination[]
  readonly connections: readonly Connection[]
}

/** Undefined without a choice, or if it does not exist. */
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

/** Disabled resources run only with force; the force of a source includes its disabled destinations. */
export function needsForce(target: BenchTarget): boolean {
  return target.kind === 'destination' ? !target.destination.enabled : !target.source.enabled
}

/** Label of the button when it sends: it names the destination. @see contracts/dashboard.md §7 [U10] */
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
