import { ApiError, badRequest, notFound, refuseUnknownMembers } from '@millrace/openapi'
import { base62, type JsonObject, ownMember } from '@millrace/protocol'
import type { Audited } from '../audit/audit-entry.ts'
import { created, updated } from '../audit/audited.ts'
import { MASK, type ShownDocument } from '../configuration/document-diff.ts'
import type { Author } from '../people/author.ts'
import { invalidConfig } from '../refusals.ts'
import type { Change } from '../workspace/change.ts'
import type { Deliveries } from '../workspace/deliveries.ts'
import type { Snapshot } from '../workspace/snapshot.ts'
import type { ChangeBase, Workspace } from '../workspace/workspace.ts'
import { resourceKey } from './resource-key.ts'
import {
  type Condition,
  type RemoveOptions,
  type ResourceService,
  refuseIfChanged,
  removeWithConnections,
  type Written,
} from './resource-service.ts'
import {
  SOURCE_TYPES,
  type Source,
  type SourceConfig,
  type SourceType,
  sourceJson,
  WEBHOOK_TYPES,
  type WebhookConfig,
} from './source.ts'
import { SourcePartitions } from './source-partitions.ts'
import {
  MAX_GRACE_HOURS,
  ROTATION_WRITTEN,
  SOURCE_CATALOG,
  SOURCE_CONFIG,
  SOURCE_WEBHOOK,
  SOURCE_WRITTEN,
  WRITE_KEY_PATTERN,
} from './source-schema.ts'
import { ConfigReader, membersOf, readBoolean, readName, refuseOther } from './written-fields.ts'

const HOUR_MS = 3_600_000
const MAX_PREVIOUS_WRITE_KEYS = 100
const MEMBERS = membersOf(SOURCE_WRITTEN)

/** The sources of the workspace. @see contracts/control-plane.md §5 */
export class Sources implements ResourceService<Source> {
  readonly #workspace: Workspace
  readonly #deliveries: Deliveries

  constructor(workspace: Workspace, deliveries: Deliveries) {
    this.#workspace = workspace
    this.#deliveries = deliveries
  }

  list(): Source[] {
    return [...this.#workspace.state.snapshot.sources.values()]
  }

  get(id: string): Source {
    return find(this.#workspace.state.snapshot, id)
  }

  create(by: Author, written: JsonObject): Promise<Written<Source>> {
    return this.#workspace.change(by, (moment) => {
      const { snapshot, at } = moment
      const name = readName(written, undefined)
      const type = readType(written)
      const fields = this.#fields(written, type, snapshot, { isEnabled: true, writeKey: undefined, config: {} })
      const id = this.#workspace.newId(at)
      const key = resourceKey(name, 'source', snapshot.sources.values())
      const workspaceId = this.#workspace.id
      const partition = new SourcePartitions(this.#workspace.partitions, snapshot.sources.values()).next()
      const identity = { id, key, type, partition, workspaceId, createdAt: at, previousWriteKeys: [] }
      const source = { ...identity, name, ...fields, updatedAt: at, revision: moment.nextRevision }
      return put(source, created('source', id))
    })
  }

  replace(by: Author, id: string, written: JsonObject, condition: Condition = {}): Promise<Written<Source>> {
    return this.#rewrite(by, id, written, condition, ({ writeKey }) => ({
      isEnabled: true,
      writeKey,
      config: {},
    }))
  }

  update(by: Author, id: string, written: JsonObject, condition: Condition = {}): Promise<Written<Source>> {
    return this.#rewrite(by, id, written, condition, (saved) => saved)
  }

  /** @param written `graceHours`: how long the current key stays valid, 0 to 720, default 0. */
  rotateWriteKey(
    by: Author,
    id: string,
    written: JsonObject = {},
    condition: Condition = {},
  ): Promise<Written<Source>> {
    return this.#workspace.change(by, (moment) => {
      const saved = find(moment.snapshot, id)
      refuseUnknownMembers(written, membersOf(ROTATION_WRITTEN))
      const graceHours = ownMember(written, 'graceHours') ?? 0
      if (!Number.isInteger(graceHours) || Number(graceHours) < 0 || Number(graceHours) > MAX_GRACE_HOURS) {
        throw badRequest(`graceHours must be an integer from 0 to ${MAX_GRACE_HOURS}`)
      }
      refuseIfChanged(saved, condition)
      const now = this.#workspace.clock.now()
      const previousWriteKeys = saved.previousWriteKeys.filter(({ expiresAt }) => expiresAt > now)
      if (graceHours !== 0) {
        if (previousWriteKeys.length >= MAX_PREVIOUS_WRITE_KEYS) {
          throw new ApiError('conflict', 'Too many previous write keys')
        }
        previousWriteKeys.push({ key: saved.writeKey, expiresAt: now + Number(graceHours) * HOUR_MS })
      }
      const source = { ...saved, writeKey: this.#newWriteKey(), previousWriteKeys, ...changedAt(moment) }
      return put(source, updated('source', id, shownSource(saved), shownSource(source), 'rotate'))
    })
  }

  remove(by: Author, id: string, options: RemoveOptions = {}): Promise<void> {
    return this.#workspace.change(by, ({ snapshot }) => {
      const connections = snapshot.connectionsOf(id)
      return removeWithConnections('source', find(snapshot, id), connections, this.#deliveries, options)
    })
  }

  #rewrite(
    by: Author,
    id: string,
    written: JsonObject,
    condition: Condition,
    whenLeftOut: (saved: Source) => FieldsLeftOut,
  ): Promise<Written<Source>> {
    return this.#workspace.change(by, (moment) => {
      const saved = find(moment.snapshot, id)
      const otherwise = whenLeftOut(saved)
      const name = readName(written, otherwise.name)
      if (Object.hasOwn(written, 'type')) readType(written)
      refuseOther(written, 'type', saved.type)
      const fields = this.#fields(written, saved.type, moment.snapshot, otherwise, saved)
      refuseIfChanged(saved, condition)
      const source = { ...saved, name, ...fields, ...changedAt(moment) }
      return put(source, updated('source', id, shownSource(saved), shownSource(source)))
    })
  }

  #fields(written: JsonObject, type: SourceType, snapshot: Snapshot, otherwise: FieldsLeftOut, saved?: Source): Fields {
    const isEnabled = readBoolean(written, 'enabled', otherwise.isEnabled)
    refuseUnknownMembers(written, MEMBERS)
    const given = Object.hasOwn(written, 'writeKey') ? readWriteKey(written) : otherwise.writeKey
    // Clients in Go send null for an absent member.
    const config = readConfig(ownMember(written, 'config') ?? otherwise.config, type)
    const writeKey = given ?? this.#newWriteKey()
    if (writeKey !== saved?.writeKey && snapshot.sourceByWriteKey(writeKey) !== undefined) {
      throw new ApiError('conflict', 'writeKey is already in use')
    }
    return { isEnabled, writeKey, config }
  }

  #newWriteKey(): string {
    return newWriteKey(this.#workspace.random)
  }
}

export function newWriteKey(random: Workspace['random']): string {
  return base62(random(26), 27)
}

type Fields = Pick<Source, 'isEnabled' | 'writeKey' | 'config'>

interface FieldsLeftOut {
  readonly name?: string
  readonly isEnabled: boolean
  readonly writeKey: string | undefined
  readonly config: Partial<SourceConfig>
}

/** For the audit log, without write keys: the database must not contain a former key. */
function shownSource(source: Source): ShownDocument {
  const plain = sourceJson(source)
  return { plain, shown: { ...plain, writeKey: MASK } }
}

function put(source: Source, audited: Audited) {
  const changes: Change[] = [{ kind: 'source', id: source.id, value: source }]
  return { changes, audit: [audited], result: { resource: source } }
}

function changedAt({ at, nextRevision }: ChangeBase) {
  return { updatedAt: at, revision: nextRevision }
}

function find(snapshot: Snapshot, id: string): Source {
  const source = snapshot.sources.get(id)
  if (source === undefined) throw notFound('Source', id)
  return source
}

export function readType(written: JsonObject): SourceType {
  const type = ownMember(written, 'type')
  if (type === undefined || type === null || type === '') throw badRequest('type is required')
  if (!SOURCE_TYPES.includes(type as SourceType)) {
    const given = typeof type === 'string' ? type : JSON.stringify(type)
    throw badRequest(`Unknown source type ${given}; known are ${SOURCE_TYPES.join(', ')}`)
  }
  return type as SourceType
}

export function readWriteKey({ writeKey }: JsonObject): string {
  if (typeof writeKey !== 'string' || !WRITE_KEY_PATTERN.test(writeKey)) {
    throw badRequest('writeKey must have 20 to 64 characters 0-9, A-Z, a-z')
  }
  return writeKey
}

/** @param type of the source; an unknown type has no settings of its own. */
export function readConfig(written: unknown, type: unknown): SourceConfig {
  const config = new ConfigReader(SOURCE_CONFIG, written, '')
  const rateLimitEventsPerMinute = config.read('rateLimitEventsPerMinute')
  const dedupWindowSeconds = config.read('dedupWindowSeconds')
  const orderShards = config.read('orderShards')
  const catalog = new ConfigReader(SOURCE_CATALOG, (written as JsonObject)['catalog'] ?? {}, '/catalog')
  const withoutConsent = config.read('withoutConsent')
  const webhook = readWebhook((written as JsonObject)['webhook'], type)
  return {
    rateLimitEventsPerMinute,
    dedupWindowSeconds,
    orderShards,
    catalog: { samples: catalog.read('samples'), values: catalog.read('values') },
    ...(withoutConsent === 'hold_back' ? { withoutConsent } : {}),
    ...(webhook === undefined ? {} : { webhook }),
  }
}

function readWebhook(written: unknown, type: unknown): WebhookConfig | undefined {
  if (!WEBHOOK_TYPES.includes(type as SourceType)) {
    if (written !== undefined)
      throw invalidConfig('/webhook', `is for sources of type ${WEBHOOK_TYPES.join(' and ')} alone`)
    return undefined
  }
  const webhook = new ConfigReader(SOURCE_WEBHOOK, written ?? {}, '/webhook')
  const config = {
    eventPath: webhook.read('eventPath'),
    userIdPath: webhook.read('userIdPath'),
    anonymousIdPath: webhook.read('anonymousIdPath'),
    messageIdPath: webhook.read('messageIdPath'),
    signature: webhook.read('signature'),
    secretCredential: webhook.read('secretCredential'),
  }
  if (config.signature !== 'none' && config.secretCredential === '') {
    throw invalidConfig('/webhook/secretCredential', 'is required for a signature')
  }
  return config
}
