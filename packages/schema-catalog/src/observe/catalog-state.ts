import type { UUID } from 'node:crypto'
import { type CatalogLimits, countersPerKey, LEAST_VALUES, OTHER_IDENTIFIER, UNVERSIONED_VALUES } from '../limits.ts'
import type { CatalogDatabase, Row } from '../store/catalog-database.ts'
import { ROW_BYTES, UNVERSIONED_BYTES, VALUES_BYTES } from '../store/stored-bytes.ts'
import { noCuts } from './cut.ts'
import { type CatalogSource, Model, SourceState } from './model.ts'
import { SamplePriorities } from './samples.ts'
import { Shapes } from './shapes.ts'
import { formatKeys, parseKeys, type TypedKey } from './typed-keys.ts'
import { Unversioned } from './unversioned.ts'
import { ValueTable } from './value-table.ts'
import { Version } from './version.ts'

/** Of a model or version in memory, beside what it counts. */
const ENTRY_BYTES = 2_000
const NONE = new Uint8Array()

/**
 * Models and versions in memory, in front of the database: what is not here is read from there, what was changed is
 * written there at a commit or when it has to leave memory.
 */
export class CatalogState {
  readonly limits: CatalogLimits
  /** Whether a model or version was made since the last commit: nobody may see it before the next. */
  hasNew = false
  readonly #database: CatalogDatabase
  readonly #newUuid: () => UUID
  readonly #sources = new Map<string, SourceState>()
  readonly #changedModels = new Set<Model>()
  readonly #changedVersions = new Set<Version>()
  readonly #models = new Set<Model>()
  readonly #owners = new Map<Version, Model>()

  constructor(database: CatalogDatabase, limits: CatalogLimits, newUuid: () => UUID) {
    this.#database = database
    this.limits = limits
    this.#newUuid = newUuid
  }

  /** A source of which nothing is known yet counts like any other, with everything kept. */
  source(id: string): SourceState {
    let source = this.#sources.get(id)
    if (source === undefined) {
      source = this.#readSource(id) ?? this.#addSource({ id, writeKey: '', samples: 'full', hasValues: true })
      this.#sources.set(id, source)
    }
    return source
  }

  *sources(): Generator<SourceState> {
    for (const { id } of this.#database.all('SELECT id FROM sources ORDER BY id')) yield this.source(id)
  }

  forgetSource(id: string): void {
    const source = this.#sources.get(id)
    if (source === undefined) return
    for (const byIdentifier of source.models.values()) for (const model of byIdentifier.values()) this.#release(model)
    this.#sources.delete(id)
  }

  /** The model of events of this type and identifier, in memory. */
  model(source: SourceState, type: string, identifier: string, acceptedAt: number): Model {
    let byIdentifier = source.models.get(type)
    if (byIdentifier === undefined) {
      byIdentifier = new Map()
      source.models.set(type, byIdentifier)
    }
    let model = byIdentifier.get(identifier)
    if (model === undefined) {
      model = this.#readModel(source, type, identifier)
      if (model === undefined && source.modelCount >= this.limits.modelsPerSource && identifier !== OTHER_IDENTIFIER) {
        return this.model(source, type, OTHER_IDENTIFIER, acceptedAt)
      }
      model ??= this.#addModel(source, type, identifier, acceptedAt)
      byIdentifier.set(identifier, model)
      this.#models.add(model)
    }
    return model
  }

  /** The version of a shape; made if there is room for one more, else undefined. */
  version(model: Model, shape: Buffer, keys: readonly TypedKey[], acceptedAt: number): Version | undefined {
    const name = shape.toString('latin1')
    let version = model.versions.get(name)
    if (version === undefined) {
      version = this.#readVersion(model, shape)
      if (version === undefined) {
        const isFull = model.versionCount >= this.limits.versionsPerModel || this.isFull(model.source)
        if (isFull) return undefined
        version = this.#addVersion(model, shape, keys, acceptedAt)
      }
      model.versions.set(name, version)
      this.#owners.set(version, model)
    }
    return version
  }

  /** The values of a version, in memory. */
  values(version: Version): ValueTable {
    if (version.values === undefined) {
      const row = this.#database.get('SELECT counters, texts FROM version_values WHERE version = ?', version.id)
      const { valuesPerVersion } = this.limits
      const capacity = countersPerKey(this.limits)
      version.values =
        row === undefined
          ? new ValueTable(capacity, valuesPerVersion)
          : ValueTable.read({ counters: row['counters'], texts: row['texts'] }, capacity, valuesPerVersion)
    }
    return version.values
  }

  rest(model: Model): Unversioned {
    if (model.rest === undefined) {
      const row = this.#database.get('SELECT keys, counters, texts FROM unversioned WHERE model = ?', model.id)
      const capacity = Math.max(LEAST_VALUES, countersPerKey(this.limits))
      model.rest = new Unversioned(capacity, UNVERSIONED_VALUES, row as ConstructorParameters<typeof Unversioned>[2])
    }
    return model.rest
  }

  isFull(source: SourceState): boolean {
    return source.bytes >= this.limits.sourceBytes
  }

  modelChanged(model: Model): void {
    model.isChanged = true
    this.#changedModels.add(model)
  }

  versionChanged(version: Version): void {
    version.isChanged = true
    this.#changedVersions.add(version)
  }

  /** Writes the counts that lists show, but not what is large: cheap enough for every reader. */
  writeHeads(): void {
    for (const source of this.#sources.values()) if (source.isChanged) this.#writeSource(source)
    for (const model of this.#changedModels) if (model.isChanged) this.#writeModel(model)
    for (const version of this.#changedVersions) if (version.isChanged) this.#writeVersion(version)
  }

  /** Writes everything that was changed. */
  write(): void {
    for (const model of this.#changedModels) this.#writeRest(model)
    for (const version of this.#changedVersions) this.#writeValues(version)
    this.writeHeads()
    this.#changedModels.clear()
    this.#changedVersions.clear()
  }

  /** Writes the values of one model's versions in memory, for whoever is about to read them all. */
  writeValuesOf(model: number): void {
    for (const [version, owner] of this.#owners) if (owner.id === model) this.#writeValues(version)
    for (const each of this.#models) if (each.id === model) this.#writeRest(each)
  }

  /** Bytes in memory, about, and how many of them are not written yet. */
  size(): { bytes: number; unsavedBytes: number } {
    let bytes = 0
    let unsavedBytes = 0
    for (const model of this.#models) {
      bytes += sizeOfModel(model)
      if (model.isRestChanged) unsavedBytes += model.rest!.sizeBytes
    }
    for (const version of this.#owners.keys()) {
      const size = sizeOfVersion(version)
      bytes += size
      if (version.areValuesChanged) unsavedBytes += size
    }
    return { bytes, unsavedBytes }
  }

  /** Lets what was used least recently go from memory until the rest fits; what is in use stays. @param now the number of the record. */
  shrink(mostBytes: number, now: number): void {
    let { bytes } = this.size()
    if (bytes <= mostBytes) return
    const byUse = (a: { usedAt: number }, b: { usedAt: number }) => a.usedAt - b.usedAt
    for (const version of [...this.#owners.keys()].sort(byUse)) {
      if (bytes <= mostBytes) return
      if (version.values === undefined) continue
      bytes -= version.values.sizeBytes
      this.#writeValues(version)
      version.values = undefined
    }
    for (const model of [...this.#models].sort(byUse)) {
      if (bytes <= mostBytes) return
      bytes -= sizeOfModel(model) + ENTRY_BYTES * model.versions.size
      if (model.usedAt < now) this.#release(model)
      else model.shapes.forget()
    }
  }

  /** A source as the control plane has it now. @returns whether something else may be kept of it than before. */
  configure(told: CatalogSource): boolean {
    const source = this.source(told.id)
    const keepsSame = source.samples === told.samples && source.hasValues === told.hasValues
    if (source.writeKey !== told.writeKey || !keepsSame) source.isChanged = true
    source.writeKey = told.writeKey
    source.samples = told.samples
    source.hasValues = told.hasValues
    return !keepsSame
  }

  /** Whether what is known of sources is not written yet. */
  get areSourcesChanged(): boolean {
    return this.#sources.values().some(({ isChanged }) => isChanged)
  }

  #release(model: Model): void {
    this.#writeRest(model)
    if (model.isChanged) this.#writeModel(model)
    for (const version of model.versions.values()) {
      this.#writeValues(version)
      if (version.isChanged) this.#writeVersion(version)
      this.#owners.delete(version)
      this.#changedVersions.delete(version)
    }
    this.#changedModels.delete(model)
    this.#models.delete(model)
    model.source.models.get(model.type)?.delete(model.identifier)
  }

  #readSource(id: string): SourceState | undefined {
    const row = this.#database.get('SELECT * FROM sources WHERE id = ?', id)
    if (row === undefined) return undefined
    const told = { id, writeKey: row['write_key'], samples: row['samples'], hasValues: row['has_values'] === 1 }
    return new SourceState(told, row['models'], row['bytes'], { ...noCuts(), ...JSON.parse(row['cut']) })
  }

  #addSource(told: CatalogSource): SourceState {
    const source = new SourceState(told, 0, 0, noCuts())
    source.isChanged = true
    return source
  }

  #writeSource(source: SourceState): void {
    const { id, writeKey, samples, hasValues, modelCount, bytes, cut } = source
    const values = [writeKey, samples, hasValues ? 1 : 0, modelCount, bytes, JSON.stringify(cut)]
    this.#database.run('INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?, ?)', id, ...values)
    source.isChanged = false
  }

  #readModel(source: SourceState, type: string, identifier: string): Model | undefined {
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

  #addModel(source: SourceState, type: string, identifier: string, acceptedAt: number): Model {
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
    this.hasNew = true
    const row = { id, event_id: eventId, type, created_at: createdAt, last_seen: createdAt, keys: '[]', cut_keys: 0 }
    return this.#newModel({ ...row, total: 0, unversioned: 0, versions: 0, rest_bytes: null }, source, identifier)
  }

  #newModel(row: Row, source: SourceState, identifier: string): Model {
    const { arrayItems, capturesUnknowns } = this.limits
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

  #writeModel(model: Model): void {
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

  #readVersion(model: Model, shape: Buffer): Version | undefined {
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

  #addVersion(model: Model, shape: Buffer, keys: readonly TypedKey[], acceptedAt: number): Version {
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
    this.hasNew = true
    const fields = { id, firstSeen, lastSeen: firstSeen, total: 0, valued: 0, valueBytes: 0 }
    return new Version({ ...fields, samples: this.#samplesOf(2 * id + 1) })
  }

  #writeVersion(version: Version): void {
    const { id, lastSeen, total, valued } = version
    const sql = 'UPDATE versions SET last_seen = ?, total = ?, valued = ? WHERE id = ?'
    this.#database.run(sql, lastSeen, total, valued, id)
    version.isChanged = false
  }

  #writeValues(version: Version): void {
    if (!version.areValuesChanged) return
    const { counters, texts } = version.values!.write(() => version.valued, this.limits.frequentPer)
    this.#database.run('INSERT OR REPLACE INTO version_values VALUES (?, ?, ?)', version.id, counters, texts)
    const bytes = counters.length + Buffer.byteLength(texts)
    this.#grow(this.#owners.get(version)!.source, bytes - version.valueBytes)
    version.valueBytes = bytes
    version.areValuesChanged = false
  }

  #writeRest(model: Model): void {
    if (!model.isRestChanged) return
    const { keys, counters, texts } = model.rest!.write(this.limits.frequentPer)
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
      this.limits.samples,
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

function sizeOfModel({ keyBytes, keys, shapes, rest }: Model): number {
  return ENTRY_BYTES + 2 * keyBytes + 64 * keys.size + shapes.sizeBytes + (rest?.sizeBytes ?? 0)
}

function sizeOfVersion({ values }: Version): number {
  return ENTRY_BYTES + (values?.sizeBytes ?? 0)
}
