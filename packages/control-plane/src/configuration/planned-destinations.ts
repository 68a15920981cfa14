import { badRequest } from '@millrace/openapi'
import { isJsonObject, type JsonValue } from '@millrace/protocol'
import { invalidConfig } from '../refusals.ts'
import { readConsent } from '../resources/consent-schema.ts'
import type { Destination } from '../resources/destination.ts'
import { MAX_TRANSFORMATIONS } from '../resources/destination-schema.ts'
import type { DestinationType } from '../resources/destination-types.ts'
import { judgeConfig, maskedConfig, readDelivery, readTypeName, unknownType } from '../resources/destinations.ts'
import { readBoolean, readName } from '../resources/written-fields.ts'
import type { Transformation } from '../transformations/transformation.ts'
import { destinationDocument } from './document.ts'
import { documentDiff } from './document-diff.ts'
import { newIds, type PlannedChange, type Planning, readThroughout, refuseUnknown } from './planning.ts'
import type { SectionEntry } from './sections.ts'

const MEMBERS = ['name', 'type', 'enabled', 'config', 'delivery', 'transformations', 'consent']

/** Destinations after the change; undefined for one with errors. */
export type TransformationsByKey = ReadonlyMap<string, Transformation | undefined>

/** The destinations of a document by key; undefined for one with errors. */
export type PlannedDestinations = ReadonlyMap<string, PlannedDestination | undefined>

export interface PlannedDestination {
  readonly value: Destination
  readonly planned: PlannedChange | undefined
  /** Warnings for the author, beside the plan. */
  readonly warning: string | undefined
}

/** Plans the destinations of a document. As with PUT, omitted members get their defaults; masks keep secrets. */
export async function planDestinations(
  planning: Planning,
  entries: readonly SectionEntry[],
  transformations: TransformationsByKey,
): Promise<PlannedDestinations> {
  const { errors, at, nextRevision, workspaceId, turns } = planning
  const savedByKey = new Map(Array.from(planning.snapshot.destinations.values(), (saved) => [saved.key, saved]))
  const read = new Map<string, ReturnType<typeof readFields> | undefined>()
  for (const entry of entries) {
    await turns.next()
    if (errors.isFull) break
    const before = errors.count
    const fields = readFields(planning, entry, savedByKey.get(entry.key), transformations)
    read.set(entry.key, errors.count > before ? undefined : fields)
  }
  const ids = await newIds(planning, [...read].filter(([key, fields]) => fields && !savedByKey.has(key)).length)
  const destinations = new Map<string, PlannedDestination | undefined>()
  const keyOf = keysOf(planning, transformations)
  for (const [key, found] of read) {
    await turns.next()
    if (found === undefined) {
      destinations.set(key, undefined)
      continue
    }
    const { warning, ...fields } = found
    const saved = savedByKey.get(key)
    const identity = () => ({
      id: ids.next().value,
      key,
      transformations: [],
      workspaceId,
      createdAt: at,
    })
    const value = { ...(saved ?? identity()), ...fields, updatedAt: at, revision: nextRevision } as Destination
    destinations.set(key, { value, planned: plannedChange(planning, saved, value, keyOf), warning })
  }
  return destinations
}

type Fields = Pick<Destination, 'name' | 'type' | 'isEnabled' | 'transformationIds' | 'config' | 'delivery' | 'consent'>

/** Complete, unless there were errors. */
function readFields(
  planning: Planning,
  { path, written }: SectionEntry,
  saved: Destination | undefined,
  byKey: TransformationsByKey,
): Partial<Fields> & { readonly warning: string | undefined } {
  const { errors, types } = planning
  refuseUnknown(planning, path, written, MEMBERS)
  const { transformations = [], config = {}, delivery = {}, consent = null } = written
  const name = errors.at(`${path}/name`, () => readName(written, undefined))
  const type = errors.at(`${path}/type`, () => {
    const typeName = readTypeName(written)
    const found = types.find(typeName) ?? unknownType(types, typeName)
    if (saved !== undefined && saved.type !== typeName) throw badRequest('type cannot be changed')
    return { typeName, found }
  })
  const judged = type && readConfig(planning, `${path}/config`, config, saved, type.found)
  return {
    name,
    type: type?.typeName,
    isEnabled: errors.at(`${path}/enabled`, () => readBoolean(written, 'enabled', true)),
    transformationIds: readTransformations(planning, `${path}/transformations`, transformations, byKey),
    config: judged?.config,
    delivery: readThroughout(planning, path, delivery, readDelivery),
    consent: readThroughout(planning, path, consent, readConsent),
    warning: judged?.warning,
  } as Partial<Fields> & { warning: string | undefined }
}

/** @returns the ids of transformations that can be attached. */
function readTransformations(
  { errors }: Planning,
  path: string,
  written: JsonValue,
  byKey: TransformationsByKey,
): string[] {
  if (!Array.isArray(written)) {
    errors.add(path, 'must be a list')
    return []
  }
  if (written.length > MAX_TRANSFORMATIONS) errors.add(path, 'Too many transformations')
  return written.flatMap((key, i) => {
    const transformation = typeof key === 'string' ? byKey.get(key) : undefined
    const fault = attachmentFault(written, i, byKey, transformation)
    if (fault !== undefined) errors.add(`${path}/${i}`, fault)
    return transformation === undefined ? [] : [transformation.id]
  })
}

function attachmentFault(
  written: readonly JsonValue[],
  i: number,
  byKey: TransformationsByKey,
  transformation: Transformation | undefined,
): string | undefined {
  const key = written[i]
  if (typeof key !== 'string') return 'must be a key'
  if (!byKey.has(key)) return `Transformation with key ${key} not found`
  if (transformation?.published === null) return `Transformation with key ${key} is not published`
  return written.indexOf(key) < i ? `Transformation with key ${key} is listed twice` : undefined
}

/** Keys of all transformations that are, or will be, attachable. */
function keysOf({ snapshot }: Planning, byKey: TransformationsByKey): (id: string) => string {
  const keys = new Map(Array.from(snapshot.transformations.values(), ({ id, key }) => [id, key]))
  for (const [key, transformation] of byKey) if (transformation !== undefined) keys.set(transformation.id, key)
  return (id) => keys.get(id)!
}

function readConfig(
  { errors, types }: Planning,
  path: string,
  written: JsonValue,
  saved: Destination | undefined,
  type: DestinationType,
) {
  return errors.at(path, () => {
    if (!isJsonObject(written)) throw invalidConfig('', 'must be an object')
    const { config, warning, faults } = judgeConfig(types, type, written, saved?.config)
    for (const fault of faults) errors.add(path + fault.path, fault.message)
    return { config, warning }
  })
}

function plannedChange(
  { types }: Planning,
  saved: Destination | undefined,
  value: Destination,
  keyOf: (id: string) => string,
): PlannedChange | undefined {
  const change = { kind: 'destination', id: value.id, value } as const
  if (saved === undefined) return { action: 'create', kind: 'destination', key: value.key, diff: [], change }
  const faces = (destination: Destination) => ({
    plain: destinationDocument(destination, destination.config, keyOf),
    shown: destinationDocument(destination, maskedConfig(types, destination), keyOf),
  })
  const diff = documentDiff(faces(saved), faces(value))
  return diff.length === 0 ? undefined : { action: 'update', kind: 'destination', key: value.key, diff, change }
}
