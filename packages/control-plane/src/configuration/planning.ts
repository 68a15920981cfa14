import { ApiError } from '@millrace/openapi'
import { isJsonObject, type JsonObject, type JsonValue, memberPath } from '@millrace/protocol'
import type { DestinationTypes } from '../resources/destination-types.ts'
import type { ControlStore } from '../store/control-store.ts'
import type { CodeChecks } from '../transformations/code-checks.ts'
import type { Change, CodeVersionMade } from '../workspace/change.ts'
import type { Snapshot } from '../workspace/snapshot.ts'
import type { DiffLine } from './document-diff.ts'
import type { DocumentErrors } from './document-errors.ts'
import type { StepTurns } from './step-turns.ts'

/** The change of one resource, for readers of the plan and for the store. */
export interface PlannedChange {
  readonly action: 'create' | 'update' | 'delete'
  readonly kind: 'source' | 'destination' | 'connection' | 'transformation' | 'library'
  /** For a connection, the keys of both ends: `cinema-app/booking-hook`. */
  readonly key: string
  /** Empty unless it is an update. */
  readonly diff: readonly DiffLine[]
  readonly change: Extract<Change, { readonly kind: PlannedChange['kind'] }>
  /** Versions of code that the change creates. */
  readonly versions?: readonly CodeVersionMade[]
}

/** The inputs of a plan, and the lists that collect its results. */
export interface Planning {
  readonly snapshot: Snapshot
  /** Time of the change, and the revision that it creates. */
  readonly at: number
  readonly nextRevision: number
  readonly workspaceId: string
  /** Number of partitions of the log. */
  readonly partitions: number
  readonly types: DestinationTypes
  readonly checks: CodeChecks
  readonly store: Pick<ControlStore, 'codeVersion'>
  /** Author of the new versions of code. */
  readonly createdBy: string
  readonly newId: (at: number) => string
  readonly newWriteKey: () => string
  /** Whether to remove resources that the document omits. */
  readonly isPruning: boolean
  readonly errors: DocumentErrors
  readonly turns: StepTurns
}

/** Ids of the resources that one change creates. They share the creation time, so the ids give their order. */
export async function newIds({ newId, at, turns }: Planning, count: number): Promise<Iterator<string, string>> {
  const ids: string[] = []
  while (ids.length < count) {
    await turns.next()
    ids.push(newId(at))
  }
  return ids.sort().values() as Iterator<string, string>
}

export function refuseUnknown({ errors }: Planning, path: string, written: JsonObject, known: readonly string[]): void {
  for (const member of Object.keys(written)) {
    if (!known.includes(member)) errors.add(memberPath(path, member), `Unknown member: ${member}`)
  }
}

/**
 * Runs a reader of requests on an object. A reader stops at its first error, so this function also passes it the
 * members, and the members of nested objects, one by one: every error is then reported.
 */
export function readThroughout<T>(
  { errors }: Planning,
  path: string,
  written: JsonValue,
  read: (written: JsonValue) => T,
): T | undefined {
  const value = errors.at(path, () => read(written))
  if (value !== undefined) return value
  for (const part of partsOf(written)) {
    errors.at(path, () => {
      try {
        read(part)
      } catch (error) {
        // A part alone lacks the members of the other parts.
        if (!(error instanceof ApiError && error.details?.['message'] === 'is required')) throw error
      }
    })
  }
  return undefined
}

function* partsOf(written: JsonValue): Generator<JsonObject> {
  if (!isJsonObject(written)) return
  for (const [name, value] of Object.entries(written)) {
    yield { [name]: value }
    if (!isJsonObject(value)) continue
    for (const [inner, innerValue] of Object.entries(value)) yield { [name]: { [inner]: innerValue } }
  }
}
