import type { UUID } from 'node:crypto'
import { type CatalogLimits, OTHER_IDENTIFIER } from '../limits.ts'
import type { CatalogDatabase } from '../store/catalog-database.ts'
import { CatalogRows } from '../store/catalog-rows.ts'
import type { CatalogSource, Model, SourceState } from './model.ts'
import type { TypedKey } from './typed-keys.ts'
import type { Unversioned } from './unversioned.ts'
import type { ValueTable } from './value-table.ts'
import type { Version } from './version.ts'

/** Of a model or version in memory, beside what it counts. */
const ENTRY_BYTES = 2_000

/**
 * Models and versions in memory, in front of the database: what is not here is read from there, what was changed is
 * written there at a commit or when it has to leave memory.
 */
export class CatalogState {
  readonly limits: CatalogLimits
  /** Whether a model or version was made since the last commit: nobody may see it before the next. */
  hasNew = false
  readonly #rows: CatalogRows
  readonly #sources = new Map<string, SourceState>()
  readonly #changedModels = new Set<Model>()
  readonly #changedVersions = new Set<Version>()
  readonly #models = new Set<Model>()
  readonly #owners = new Map<Version, Model>()

  constructor(database: CatalogDatabase, limits: CatalogLimits, newUuid: () => UUID) {
    this.#rows = new CatalogRows(database, limits, newUuid)
    this.limits = limits
  }

  /** A source of which nothing is known yet counts like any other, with everything kept unless settings were lost. */
  source(id: string): SourceState {
    let source = this.#sources.get(id)
    if (source === undefined) {
      source = this.#rows.readSource(id) ?? this.#rows.addUnknownSource(id)
      this.#sources.set(id, source)
    }
    return source
  }

  *sources(): Generator<SourceState> {
    for (const id of this.#rows.sourceIds()) yield this.source(id)
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
      model = this.#rows.readModel(source, type, identifier)
      if (model === undefined && source.modelCount >= this.limits.modelsPerSource && identifier !== OTHER_IDENTIFIER) {
        return this.model(source, type, OTHER_IDENTIFIER, acceptedAt)
      }
      if (model === undefined) {
        model = this.#rows.addModel(source, type, identifier, acceptedAt)
        this.hasNew = true
      }
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
      version = this.#rows.readVersion(model, shape)
      if (version === undefined) {
        const isFull = model.versionCount >= this.limits.versionsPerModel || this.isFull(model.source)
        if (isFull) return undefined
        version = this.#rows.addVersion(model, shape, keys, acceptedAt)
        this.hasNew = true
      }
      model.versions.set(name, version)
      this.#owners.set(version, model)
    }
    return version
  }

  /** The keys of a version, in the order in which its values are counted. */
  keysOf(version: Version): readonly TypedKey[] {
    return this.#rows.keysOf(version)
  }

  /** The values of a version, in memory. */
  values(version: Version): ValueTable {
    version.values ??= this.#rows.readValues(version)
    return version.values
  }

  rest(model: Model): Unversioned {
    model.rest ??= this.#rows.readRest(model)
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
    for (const source of this.#sources.values()) if (source.isChanged) this.#rows.writeSource(source)
    for (const model of this.#changedModels) if (model.isChanged) this.#rows.writeModel(model)
    for (const version of this.#changedVersions) if (version.isChanged) this.#rows.writeVersion(version)
  }

  /** Writes everything that was changed. */
  write(): void {
    for (const model of this.#changedModels) this.#rows.writeRest(model)
    for (const version of this.#changedVersions) this.#writeValues(version)
    this.writeHeads()
    this.#changedModels.clear()
    this.#changedVersions.clear()
  }

  /** Writes the values of one model's versions in memory, for whoever is about to read them all. */
  writeValuesOf(model: number): void {
    for (const [version, owner] of this.#owners) if (owner.id === model) this.#writeValues(version)
    for (const each of this.#models) if (each.id === model) this.#rows.writeRest(each)
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
    this.#rows.writeRest(model)
    if (model.isChanged) this.#rows.writeModel(model)
    for (const version of model.versions.values()) {
      this.#writeValues(version)
      if (version.isChanged) this.#rows.writeVersion(version)
      this.#owners.delete(version)
      this.#changedVersions.delete(version)
    }
    this.#changedModels.delete(model)
    this.#models.delete(model)
    model.source.models.get(model.type)?.delete(model.identifier)
  }

  #writeValues(version: Version): void {
    this.#rows.writeValues(version, this.#owners.get(version)!)
  }
}

function sizeOfModel({ keyBytes, keys, shapes, rest }: Model): number {
  return ENTRY_BYTES + 2 * keyBytes + 64 * keys.size + shapes.sizeBytes + (rest?.sizeBytes ?? 0)
}

function sizeOfVersion({ values }: Version): number {
  return ENTRY_BYTES + (values?.sizeBytes ?? 0)
}
