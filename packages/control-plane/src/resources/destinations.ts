import { ApiError, badRequest, notFound, refuseUnknownMembers } from '@millrace/openapi'
import { isJsonObject, type JsonObject, type JsonValue, ownMember } from '@millrace/protocol'
import type { Audited } from '../audit/audit-entry.ts'
import { created, updated } from '../audit/audited.ts'
import type { ShownDocument } from '../configuration/document-diff.ts'
import type { Author } from '../people/author.ts'
import { invalidConfig } from '../refusals.ts'
import type { Deliveries } from '../workspace/deliveries.ts'
import type { Snapshot } from '../workspace/snapshot.ts'
import type { Decision, Workspace } from '../workspace/workspace.ts'
import { readConsent } from './consent-schema.ts'
import { DEFAULT_DELIVERY, type DeliverySettings, type Destination, destinationJson } from './destination.ts'
import { DELIVERY, DESTINATION_WRITTEN, MAX_TRANSFORMATIONS, THROTTLE } from './destination-schema.ts'
import type { ConfigIssue, DestinationType, DestinationTypes } from './destination-types.ts'
import { resourceKey } from './resource-key.ts'
import {
  type Condition,
  type RemoveOptions,
  type ResourceService,
  refuseIfChanged,
  removeWithConnections,
  type Written,
} from './resource-service.ts'
import { mergeSecrets } from './secret-merge.ts'
import { ConfigReader, membersOf, readBoolean, readName, refuseOther } from './written-fields.ts'

const MEMBERS = membersOf(DESTINATION_WRITTEN)

/** The destinations of the workspace. @see contracts/control-plane.md §6 */
export class Destinations implements ResourceService<Destination> {
  readonly #workspace: Workspace
  readonly #deliveries: Deliveries
  readonly #types: DestinationTypes

  constructor(workspace: Workspace, deliveries: Deliveries, types: DestinationTypes) {
    this.#workspace = workspace
    this.#deliveries = deliveries
    this.#types = types
  }

  list(): Destination[] {
    return [...this.#workspace.state.snapshot.destinations.values()]
  }

  get(id: string): Destination {
    return find(this.#workspace.state.snapshot, id)
  }

  maskedConfig(destination: Destination): JsonObject {
    return maskedConfig(this.#types, destination)
  }

  /** In clear and masked, for diffs. */
  shown(destination: Destination): ShownDocument {
    return {
      plain: destinationJson(destination, destination.config),
      shown: destinationJson(destination, this.maskedConfig(destination)),
    }
  }

  create(by: Author, written: JsonObject): Promise<Written<Destination>> {
    return this.#workspace.change(by, ({ snapshot, at, nextRevision }) => {
      const name = readName(written, undefined)
      const typeName = readTypeName(written)
      const type = this.#type(typeName)
      const plain = readPlainFields(written, DEFAULTS)
      const { config, warning } = this.#config(written['config'] ?? {}, undefined, type)
      const settings = readSettings(written, DEFAULTS, snapshot)
      const identity = {
        id: this.#workspace.newId(at),
        key: resourceKey(name, 'destination', snapshot.destinations.values()),
        type: typeName,
        workspaceId: this.#workspace.id,
        createdAt: at,
      }
      const changed = { transformations: [], updatedAt: at, revision: nextRevision }
      const destination = { ...identity, ...plain, name, config, ...settings, ...changed }
      return put(destination, created('destination', identity.id), warning)
    })
  }

  replace(by: Author, id: string, written: JsonObject, condition: Condition = {}): Promise<Written<Destination>> {
    return this.#rewrite(by, id, { config: {}, ...written }, condition, () => DEFAULTS)
  }

  update(by: Author, id: string, written: JsonObject, condition: Condition = {}): Promise<Written<Destination>> {
    return this.#rewrite(by, id, written, condition, (saved) => saved)
  }

  remove(by: Author, id: string, options: RemoveOptions = {}): Promise<void> {
    return this.#workspace.change(by, ({ snapshot }) => {
      const connections = [...snapshot.connections.values()].filter(({ destinationId }) => destinationId === id)
      return removeWithConnections('destination', find(snapshot, id), connections, this.#deliveries, options)
    })
  }

  #rewrite(
    by: Author,
    id: string,
    written: JsonObject,
    condition: Condition,
    whenLeftOut: (saved: Destination) => FieldsLeftOut,
  ): Promise<Written<Destination>> {
    return this.#workspace.change(by, ({ snapshot, at, nextRevision }) => {
      const saved = find(snapshot, id)
      const otherwise = whenLeftOut(saved)
      const name = readName(written, otherwise.name)
      if (Object.hasOwn(written, 'type')) this.#type(readTypeName(written))
      refuseOther(written, 'type', saved.type)
      const plain = readPlainFields(written, otherwise)
      const { config, warning } = Object.hasOwn(written, 'config')
        ? this.#config(written['config'], saved.config, this.#type(saved.type))
        : { config: saved.config, warning: undefined }
      const settings = readSettings(written, otherwise, snapshot)
      refuseIfChanged(saved, condition)
      const destination = { ...saved, ...plain, name, config, ...settings, updatedAt: at, revision: nextRevision }
      return put(destination, updated('destination', id, this.shown(saved), this.shown(destination)), warning)
    })
  }

  #type(name: string): DestinationType {
    return this.#types.find(name) ?? unknownType(this.#types, name)
  }

  /** The config to save: masks filled in, and checked. */
  #config(written: JsonValue | undefined, saved: JsonObject | undefined, type: DestinationType) {
    if (!isJsonObject(written)) throw invalidConfig('', 'must be an object')
    const { config, warning, faults } = judgeConfig(this.#types, type, written, saved)
    const [fault] = faults
    if (fault !== undefined) throw invalidConfig(fault.path, fault.message)
    return { config, warning }
  }
}

/** The masked config. All values of an unknown type are masked: any may be secret. */
export function maskedConfig(types: DestinationTypes, { type: typeName, config }: Destination): JsonObject {
  const type = types.find(typeName)
  return type === undefined ? {} : types.maskConfig(type.definition, config)
}

/** The config to save when `written` replaces `saved`, and every error that prevents saving it. */
export function judgeConfig(
  types: DestinationTypes,
  type: DestinationType,
  written: JsonObject,
  saved: JsonObject | undefined,
): { config: JsonObject; warning: string | undefined; faults: ConfigIssue[] } {
  const { config, warning, masksWithoutValue } = mergeSecrets(types, type.definition, written, saved)
  const masks = masksWithoutValue.map((path) => ({ path, message: 'has no saved value' }))
  return { config, warning, faults: [...masks, ...types.faultsIn(type, config)] }
}

type FieldsLeftOut = Pick<Destination, 'isEnabled' | 'transformationIds' | 'delivery' | 'consent'> & {
  readonly name?: string
}

const DEFAULTS: FieldsLeftOut = { isEnabled: true, transformationIds: [], delivery: DEFAULT_DELIVERY }

function find(snapshot: Snapshot, id: string): Destination {
  const destination = snapshot.destinations.get(id)
  if (destination === undefined) throw notFound('Destination', id)
  return destination
}

function put(destination: Destination, audited: Audited, warning: string | undefined): Decision<Written<Destination>> {
  return {
    changes: [{ kind: 'destination', id: destination.id, value: destination }],
    audit: [audited],
    result: warning === undefined ? { resource: destination } : { resource: destination, warning },
  }
}

export function readTypeName(written: JsonObject): string {
  const type = ownMember(written, 'type')
  if (type === undefined || type === null || type === '') throw badRequest('type is required')
  return typeof type === 'string' ? type : JSON.stringify(type)
}

function readPlainFields(written: JsonObject, otherwise: FieldsLeftOut): Pick<Destination, 'isEnabled'> {
  const isEnabled = readBoolean(written, 'enabled', otherwise.isEnabled)
  refuseUnknownMembers(written, MEMBERS)
  return { isEnabled }
}

function readSettings(
  written: JsonObject,
  otherwise: FieldsLeftOut,
  snapshot: Snapshot,
): Pick<Destination, 'transformationIds' | 'delivery' | 'consent'> {
  return {
    transformationIds: Object.hasOwn(written, 'transformationIds')
      ? readTransformationIds(written['transformationIds'], snapshot)
      : otherwise.transformationIds,
    delivery: Object.hasOwn(written, 'delivery') ? readDelivery(written['delivery']) : otherwise.delivery,
    consent: written['consent'] === undefined ? otherwise.consent : readConsent(written['consent']),
  }
}

function readTransformationIds(written: unknown, { transformations }: Snapshot): readonly string[] {
  if (!Array.isArray(written) || !written.every((id) => typeof id === 'string')) {
    throw badRequest('transformationIds must be a list of ids')
  }
  if (written.length > MAX_TRANSFORMATIONS) throw new ApiError('invalid_config', 'Too many transformations')
  for (const [i, id] of written.entries()) {
    const transformation = transformations.get(id)
    const fault =
      transformation === undefined
        ? 'not found'
        : transformation.published === null
          ? 'is not published'
          : written.indexOf(id) < i
            ? 'is listed twice'
            : undefined
    if (fault !== undefined) throw new ApiError('invalid_config', `Transformation with id ${id} ${fault}`)
  }
  return written
}

export function readDelivery(written: unknown): DeliverySettings {
  const settings = new ConfigReader(DELIVERY, written, '/delivery')
  return {
    concurrency: settings.read('concurrency'),
    ordering: settings.read('ordering'),
    throttle: readThrottle((written as JsonObject)['throttle'] ?? null),
    onTransformationError: settings.read('onTransformationError'),
    keepAnswers: settings.read('keepAnswers'),
  }
}

function readThrottle(written: JsonValue): DeliverySettings['throttle'] {
  if (written === null) return null
  const throttle = new ConfigReader(THROTTLE, written, '/delivery/throttle')
  return { limit: throttle.read('limit'), windowSeconds: throttle.read('windowSeconds') }
}

/** @throws ApiError 400 that lists the known types. */
export function unknownType(types: Pick<DestinationTypes, 'names'>, name: string): never {
  throw badRequest(`Unknown destination type ${name}; known are ${types.names().join(', ')}`)
}
