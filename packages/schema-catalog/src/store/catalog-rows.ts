import type { UUID } from 'node:crypto'
import { type CatalogLimits, countersPerKey, LEAST_VALUES, OTHER_IDENTIFIER, UNVERSIONED_VALUES } from '../limits.ts'
import { noCuts } from '../observe/cut.ts'
import { Model, SourceState } from '../observe/model.ts'
import { SamplePriorities } from '../observe/samples.ts'
import { Shapes } from '../observe/shapes.ts'
import { formatKeys, parseKeys, type TypedKey } from '../observe/typed-keys.ts'
import { Unversioned } from '../observe/unversioned.ts'
import { ValueTable } from '../observe/value-table.ts'
import { Version } from '../observe/version.ts'
import type { CatalogDatabase, Row } from './catalog-database.ts'
import { ROW_BYTES, UNVERSIONED_BYTES, VALUES_BYTES } from './stored-bytes.ts'

const NONE = new Uint8Array()
/** Among the numbers, after a rebuild that could not read all sources. */
export const SOURCES_LOST = 'sources_lost'

/** Rows of the database as sources, models and versions in memory, and back. Writes go into the open transaction. */
export class CatalogRows {
  readonly #database: CatalogDatabase
  readonly #limits: CatalogLimits
  readonly #newUuid: () => UUID

  constructor(database: CatalogDatabase, limits: CatalogLimits, newUuid: () => UUID) {
    this.#database = database
    this.#limits = limits
    this.#newUuid = newUuid
  }

  sourceIds(): string[] {
    return this.#database.all('SELECT id FROM sources ORDER BY id').map(({ id }) => id)
  }

  readSource(id: string): SourceState | undefined {
    const row = this.#database.get('SELECT * FROM sources WHERE id = ?', id)
    if (row === undefined) return undefined
    const told = { id, writeKey: row['write_key'], samples: row['samples'], hasValues: row['has_values'] === 1 }
    return new SourceState(told, row['models'], row['bytes'], { ...noCuts(), ...JSON.parse(row['cut']) })
  }

  /** A source that is not configured yet, or was deleted; if its settings are lost, it may be one that allowed nothing. */
  addUnknownSource(id: string): SourceState {
    const areLost = this.#database.get('SELECT 1 FROM numbers WHERE name = ?', SOURCES_LOST) !== undefined
    const told = { id, writeKey: '', samples: areLost ? 'off' : 'full', hasValues: !areLost } as const
    const source = new SourceState(told, 0, 0, noCuts())
    source.isChanged = true
    return source
  }

  writeSource(source: SourceState): void {
    const { id, writeKey, samples, hasValues, modelCount, bytes, cut } = source
    const values = [writeKey, samples, hasValues ? 1 : 0, modelCount, bytes, JSON.stringify(cut)]
    this.#database.run('INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?, ?)', id, ...values)
    source.isChanged = false
  }

  readModel(source: SourceState, type: string, identifier: string): Model | undefined {
    const row = this.#database.get(
      `SELECT *, (SELECT ${UNVERSIONED_BYTES} FROM unversioned WHERE model = id) AS rest_bytes
       FROM models WHERE source = ? AND type = ? AND identifier = ?`,
      source.id,
      type,
      JSON.stringify(identifier),
    )
    if (row === undefined) return undefined
    return this.#newModel(row, source, identifier)
  }

  addModel(source: SourceState, type: string, identifier: string, acceptedAt: number): Model {
    const name = [source.id, type, JSON.stringify(identifier)]
    const known = this.#takeKnown(name, NONE)
    const createdAt = known?.first_at ?? acceptedAt
    const counts = [createdAt, createdAt, 0, 0, 0, 0, '[]']
    const eventId = known?.uuid ?? this.#newUuid()
    const id =
      known === undefined
        ? this.#database.run(
            'INSERT INTO models VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
            eventId,
            ...name,
            ...counts,
          )
        : this.#database.run(
            'INSERT INTO models VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
            known.id,
            eventId,
            ...name,
            ...counts,
          )
    if (identifier !== OTHER_IDENTIFIER) source.modelCount++
    source.bytes += ROW_BYTES + Buffer.byteLength(identifier)
    source.isChanged = true
    const row = { id, event_id: eventId, type, created_at: createdAt, last_seen: createdAt, keys: '[]', cut_keys: 0 }
    return this.#newModel({ ...row, total: 0, unversioned: 0, versions: 0, rest_bytes: null }, source, identifier)
  }

  #newModel(row: Row, source: SourceState, identifier: string): Model {
    const { arrayItems, capturesUnknowns } = this.#limits
    return new Model({
      id: row['id'],
      eventId: row['event_id'],
      source,
      type: row['type'],
      identifier,
      createdAt: row['created_at'],
      lastSeen: row['last_seen'],
      total: row['total'],
      unversioned: row['unversioned'],
      versionCount: row['versions'],
      cutKeys: row['cut_keys'],
      keys: new Map(parseKeys(row['keys'])),
      keyBytes: Buffer.byteLength(row['keys']),
      samples: this.#samplesOf(2 * row['id']),
      shapes: new Shapes(arrayItems, capturesUnknowns),
      restBytes: row['rest_bytes'] ?? 0,
    })
  }

  writeModel(model: Model): void {
    const { id, lastSeen, total, unversioned, versionCount, cutKeys } = model
    this.#database.run(
      'UPDATE models SET last_seen = ?, total = ?, unversioned = ?, versions = ?, cut_keys = ? WHERE id = ?',
      ...[lastSeen, total, unversioned, versionCount, cutKeys, id],
    )
    if (model.areKeysChanged) {
      const keys = formatKeys([...model.keys])
      this.#database.run('UPDATE models SET keys = ? WHERE id = ?', keys, id)
      const bytes = Buffer.byteLength(keys)
      this.#grow(model.source, bytes - model.keyBytes)
      model.keyBytes = bytes
      model.areKeysChanged = false
    }
    model.isChanged = false
  }

  readVersion(model: Model, shape: Buffer): Version | undefined {
    const row = this.#database.get(
      `SELECT *, (SELECT ${VALUES_BYTES} FROM version_values WHERE version = id) AS value_bytes
       FROM versions WHERE model = ? AND shape = ?`,
      model.id,
      shape,
    )
    if (row === undefined) return undefined
    return new Version({
      id: row['id'],
      firstSeen: row['first_seen'],
      lastSeen: row['last_seen'],
      total: row['total'],
      valued: row['valued'],
      samples: this.#samplesOf(2 * row['id'] + 1),
      valueBytes: row['value_bytes'] ?? 0,
    })
  }

  addVersion(model: Model, shape: Buffer, keys: readonly TypedKey[], acceptedAt: number): Version {
    const known = this.#takeKnown([model.source.id, model.type, JSON.stringify(model.identifier)], shape)
    const firstSeen = known?.first_at ?? acceptedAt
    const text = formatKeys(keys)
    const rest = [known?.uuid ?? this.#newUuid(), model.id, shape, firstSeen, firstSeen, 0, 0, text] as const
    const id =
      known === undefined
        ? this.#database.run('INSERT INTO versions VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)', ...rest)
        : this.#database.run('INSERT INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)', known.id, ...rest)
    model.versionCount++
    this.#grow(model.source, ROW_BYTES + Buffer.byteLength(text))
    const fields = { id, firstSeen, lastSeen: firstSeen, total: 0, valued: 0, valueBytes: 0 }
    return new Version({ ...fields, samples: this.#samplesOf(2 * id + 1) })
  }

  keysOf(version: Version): readonly TypedKey[] {
    return parseKeys(this.#database.get('SELECT keys FROM versions WHERE id = ?', version.id)!['keys'])
  }

  writeVersion(version: Version): void {
    const { id, lastSeen, total, valued } = version
    const sql = 'UPDATE versions SET last_seen = ?, total = ?, valued = ? WHERE id = ?'
    this.#database.run(sql, lastSeen, total, valued, id)
    version.isChanged = false
  }

  readValues(version: Version): ValueTable {
    const row = this.#database.get('SELECT counters, texts FROM version_values WHERE version = ?', version.id)
    const { valuesPerVersion } = this.#limits
    const capacity = countersPerKey(this.#limits)
    return row === undefined
      ? new ValueTable(capacity, valuesPerVersion)
      : ValueTable.read({ counters: row['counters'], texts: row['texts'] }, capacity, valuesPerVersion)
  }

  readRest(model: Model): Unversioned {
    const row = this.#database.get('SELECT keys, counters, texts FROM unversioned WHERE model = ?', model.id)
    const capacity = Math.max(LEAST_VALUES, countersPerKey(this.#limits))
    return new Unversioned(capacity, UNVERSIONED_VALUES, row as ConstructorParameters<typeof Unversioned>[2])
  }

  /** @param owner the model of the version. */
  writeValues(version: Version, owner: Model): void {
    if (!version.areValuesChanged) return
    const { counters, texts } = version.values!.write(() => version.valued, this.#limits.frequentPer)
    this.#database.run('INSERT OR REPLACE INTO version_values VALUES (?, ?, ?)', version.id, counters, texts)
    const bytes = counters.length + Buffer.byteLength(texts)
    this.#grow(owner.source, bytes - version.valueBytes)
    version.valueBytes = bytes
    version.areValuesChanged = false
  }

  writeRest(model: Model): void {
    if (!model.isRestChanged) return
    const { keys, counters, texts } = model.rest!.write(this.#limits.frequentPer)
    const sql = 'INSERT OR REPLACE INTO unversioned VALUES (?, ?, ?, ?)'
    this.#database.run(sql, model.id, keys, counters, texts)
    const bytes = Buffer.byteLength(keys) + counters.length + Buffer.byteLength(texts)
    this.#grow(model.source, bytes - model.restBytes)
    model.restBytes = bytes
    model.isRestChanged = false
  }

  #samplesOf(owner: number): SamplePriorities {
    const rows = this.#database.all('SELECT priority FROM samples WHERE owner = ?', owner)
    return new SamplePriorities(
      this.#limits.samples,
      rows.map(({ priority }) => priority),
    )
  }

  /** What a rebuild has kept of a model or version: used once. */
  #takeKnown(name: readonly string[], shape: Uint8Array): { id: number; uuid: string; first_at: number } | undefined {
    const where = 'FROM known WHERE source = ? AND type = ? AND identifier = ? AND shape = ?'
    const row = this.#database.get(`SELECT id, uuid, first_at ${where}`, ...name, shape)
    if (row !== undefined) this.#database.run(`DELETE ${where}`, ...name, shape)
    return row as { id: number; uuid: string; first_at: number } | undefined
  }

  #grow(source: SourceState, bytes: number): void {
    source.bytes += bytes
    source.isChanged = true
  }
}
