import { ApiError, badRequest } from '@millrace/openapi'
import type { JsonObject } from '@millrace/protocol'
import type { Source } from '../resources/source.ts'
import { SourcePartitions } from '../resources/source-partitions.ts'
import { readConfig, readType, readWriteKey } from '../resources/sources.ts'
import { readBoolean, readName } from '../resources/written-fields.ts'
import { sourceDocument } from './document.ts'
import { documentDiff } from './document-diff.ts'
import { newIds, type PlannedChange, type Planning, readThroughout, refuseUnknown } from './planning.ts'
import type { SectionEntry } from './sections.ts'

const MEMBERS = ['name', 'type', 'enabled', 'writeKey', 'config']

/** The sources of a document by key; undefined for one with errors. */
export type PlannedSources = ReadonlyMap<string, PlannedSource | undefined>

export interface PlannedSource {
  readonly value: Source
  readonly planned: PlannedChange | undefined
}

/** Plans the sources of a document. As with PUT, omitted members get their defaults; an omitted write key stays. */
export async function planSources(planning: Planning, entries: readonly SectionEntry[]): Promise<PlannedSources> {
  const { errors, at, nextRevision, workspaceId, turns } = planning
  const savedByKey = new Map(Array.from(planning.snapshot.sources.values(), (source) => [source.key, source]))
  const writeKeys = new WriteKeys(planning, entries)
  const read = new Map<string, Partial<Fields> | undefined>()
  for (const entry of entries) {
    await turns.next()
    if (errors.isFull) break
    const before = errors.count
    const fields = readFields(planning, entry, savedByKey.get(entry.key), writeKeys)
    read.set(entry.key, errors.count > before ? undefined : fields)
  }
  const ids = await newIds(planning, [...read].filter(([key, fields]) => fields && !savedByKey.has(key)).length)
  const staying = [...savedByKey.values()].filter(({ key }) => !planning.isPruning || read.has(key))
  const partitions = new SourcePartitions(planning.partitions, staying)
  const sources = new Map<string, PlannedSource | undefined>()
  for (const [key, fields] of read) {
    await turns.next()
    const saved = savedByKey.get(key)
    const made = { key, workspaceId, createdAt: at, previousWriteKeys: [] }
    const identity = () => ({ id: ids.next().value, partition: partitions.next(), ...made })
    const value = fields && ({ ...(saved ?? identity()), ...fields, updatedAt: at, revision: nextRevision } as Source)
    sources.set(key, value && { value, planned: plannedChange(saved, value) })
  }
  return sources
}

type Fields = Pick<Source, 'name' | 'type' | 'isEnabled' | 'writeKey' | 'config'>

/** Complete, unless there were errors. */
function readFields(
  planning: Planning,
  { path, written }: SectionEntry,
  saved: Source | undefined,
  writeKeys: WriteKeys,
): Partial<Fields> {
  const { errors } = planning
  refuseUnknown(planning, path, written, MEMBERS)
  const { config = {} } = written
  return {
    name: errors.at(`${path}/name`, () => readName(written, undefined)),
    type: errors.at(`${path}/type`, () => {
      const type = readType(written)
      if (saved !== undefined && saved.type !== type) throw badRequest('type cannot be changed')
      return type
    }),
    isEnabled: errors.at(`${path}/enabled`, () => readBoolean(written, 'enabled', true)),
    writeKey: errors.at(`${path}/writeKey`, () => writeKeys.take(written, saved)),
    config: readThroughout(planning, `${path}/config`, config, (config) => readConfig(config, written['type'])),
  } as Partial<Fields>
}

/** The write keys that a document may use: each once, and none of another source. */
class WriteKeys {
  readonly #planning: Planning
  readonly #named: ReadonlySet<string>
  readonly #given = new Set<string>()

  constructor(planning: Planning, entries: readonly SectionEntry[]) {
    this.#planning = planning
    this.#named = new Set(entries.map(({ key }) => key))
  }

  /** @throws ApiError */
  take(written: JsonObject, saved: Source | undefined): string {
    const writeKey = Object.hasOwn(written, 'writeKey')
      ? readWriteKey(written)
      : (saved?.writeKey ?? this.#planning.newWriteKey())
    if (this.#given.has(writeKey) || (writeKey !== saved?.writeKey && this.#isInUse(writeKey))) {
      throw new ApiError('conflict', 'writeKey is already in use')
    }
    this.#given.add(writeKey)
    return writeKey
  }

  // Checked against the state before the change: no order of its writes may violate the uniqueness of write keys.
  #isInUse(writeKey: string): boolean {
    const { snapshot, isPruning } = this.#planning
    const owner = snapshot.sourceByWriteKey(writeKey)
    return owner !== undefined && !(isPruning && !this.#named.has(owner.key))
  }
}

function plannedChange(saved: Source | undefined, value: Source): PlannedChange | undefined {
  const change = { kind: 'source', id: value.id, value } as const
  if (saved === undefined) return { action: 'create', kind: 'source', key: value.key, diff: [], change }
  const [before, after] = [sourceDocument(saved), sourceDocument(value)]
  const diff = documentDiff({ plain: before, shown: before }, { plain: after, shown: after })
  return diff.length === 0 ? undefined : { action: 'update', kind: 'source', key: value.key, diff, change }
}
