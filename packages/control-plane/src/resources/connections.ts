import { ApiError, notFound, refuseUnknownMembers } from '@millrace/openapi'
import type { JsonObject } from '@millrace/protocol'
import type { Audited } from '../audit/audit-entry.ts'
import { created, deleted, updated } from '../audit/audited.ts'
import { openDocument, type ShownDocument } from '../configuration/document-diff.ts'
import type { Author } from '../people/author.ts'
import type { Deliveries } from '../workspace/deliveries.ts'
import type { Snapshot } from '../workspace/snapshot.ts'
import type { Decision, Workspace } from '../workspace/workspace.ts'
import { type Connection, connectionJson } from './connection.ts'
import { readConnectionRules } from './connection-rules-schema.ts'
import { CONNECTION_WRITTEN } from './connection-schema.ts'
import type { Destination } from './destination.ts'
import type { DestinationTypes } from './destination-types.ts'
import {
  type Condition,
  type RemoveOptions,
  type ResourceService,
  refuseIfChanged,
  refuseWhileWaiting,
  type Written,
} from './resource-service.ts'
import { type Source, sourceClass } from './source.ts'
import { membersOf, readBoolean, readText, refuseOther } from './written-fields.ts'

const MEMBERS = membersOf(CONNECTION_WRITTEN)

/** The connections of the workspace. */
export class Connections implements ResourceService<Connection> {
  readonly #workspace: Workspace
  readonly #deliveries: Deliveries
  readonly #types: DestinationTypes

  constructor(workspace: Workspace, deliveries: Deliveries, types: DestinationTypes) {
    this.#workspace = workspace
    this.#deliveries = deliveries
    this.#types = types
  }

  list(): Connection[] {
    return [...this.#workspace.state.snapshot.connections.values()]
  }

  get(id: string): Connection {
    return find(this.#workspace.state.snapshot, id)
  }

  create(by: Author, written: JsonObject): Promise<Written<Connection>> {
    return this.#workspace.change(by, ({ snapshot, at, nextRevision }) => {
      const isEnabled = readBoolean(written, 'enabled', true)
      refuseUnknownMembers(written, MEMBERS)
      const sourceId = readText(written, 'sourceId')
      const destinationId = readText(written, 'destinationId')
      this.#refuseUnsupported(snapshot, sourceId, destinationId)
      const rules = readConnectionRules(written, undefined)
      if (snapshot.connectionsOf(sourceId).some((other) => other.destinationId === destinationId)) {
        throw new ApiError('conflict', 'Connection already exists')
      }
      const id = this.#workspace.newId(at)
      const identity = { id, sourceId, destinationId, createdAt: at }
      const connection = { ...identity, isEnabled, rules, updatedAt: at, revision: nextRevision }
      return put(connection, created('connection', id))
    })
  }

  replace(by: Author, id: string, written: JsonObject, condition: Condition = {}): Promise<Written<Connection>> {
    return this.#rewrite(by, id, written, condition, () => ({ isEnabled: true }))
  }

  update(by: Author, id: string, written: JsonObject, condition: Condition = {}): Promise<Written<Connection>> {
    return this.#rewrite(by, id, written, condition, (saved) => saved)
  }

  remove(by: Author, id: string, options: RemoveOptions = {}): Promise<void> {
    return this.#workspace.change(by, async ({ snapshot }) => {
      const connection = find(snapshot, id)
      refuseIfChanged(connection, options)
      const { sourceId, destinationId } = connection
      await refuseWhileWaiting(this.#deliveries, { sourceId, destinationId }, options)
      const changes = [{ kind: 'connection', id, value: undefined }] as const
      return { changes, audit: [deleted('connection', id)], result: undefined }
    })
  }

  #rewrite(
    by: Author,
    id: string,
    written: JsonObject,
    condition: Condition,
    whenLeftOut: (saved: Connection) => Pick<Connection, 'isEnabled' | 'rules'>,
  ): Promise<Written<Connection>> {
    return this.#workspace.change(by, ({ snapshot, at, nextRevision }) => {
      const saved = find(snapshot, id)
      const otherwise = whenLeftOut(saved)
      const isEnabled = readBoolean(written, 'enabled', otherwise.isEnabled)
      refuseUnknownMembers(written, MEMBERS)
      refuseOther(written, 'sourceId', saved.sourceId)
      refuseOther(written, 'destinationId', saved.destinationId)
      const rules = readConnectionRules(written, otherwise.rules)
      refuseIfChanged(saved, condition)
      const connection = { ...saved, isEnabled, rules, updatedAt: at, revision: nextRevision }
      return put(connection, updated('connection', id, shownConnection(saved), shownConnection(connection)))
    })
  }

  #refuseUnsupported(snapshot: Snapshot, sourceId: string, destinationId: string): void {
    const source = snapshot.sources.get(sourceId)
    if (source === undefined) throw new ApiError('invalid_config', `Source with id ${sourceId} not found`)
    const destination = snapshot.destinations.get(destinationId)
    if (destination === undefined) {
      throw new ApiError('invalid_config', `Destination with id ${destinationId} not found`)
    }
    refuseUnsupported(this.#types, source, destination)
  }
}

/** @throws ApiError 422 if the destination's type does not accept events of such a source. */
export function refuseUnsupported(
  types: DestinationTypes,
  source: Pick<Source, 'type'>,
  destination: Pick<Destination, 'type'>,
): void {
  const supported = types.find(destination.type)?.definition.config.supportedSourceTypes ?? []
  const sourceType = sourceClass(source.type)
  if (supported.includes(sourceType)) return
  const message = `Destination type ${destination.type} does not support source type ${sourceType}`
  throw new ApiError('invalid_config', message)
}

function find(snapshot: Snapshot, id: string): Connection {
  const connection = snapshot.connections.get(id)
  if (connection === undefined) throw notFound('Connection', id)
  return connection
}

function shownConnection(connection: Connection): ShownDocument {
  return openDocument(connectionJson(connection))
}

function put(connection: Connection, audited: Audited): Decision<Written<Connection>> {
  return {
    changes: [{ kind: 'connection', id: connection.id, value: connection }],
    audit: [audited],
    result: { resource: connection },
  }
}
