import { hash } from 'node:crypto'
import { eventName, type JsonObject, type StoredEvent } from '@millrace/protocol'
import type { CatalogDatabase } from '../store/catalog-database.ts'
import { SAMPLE_BYTES } from '../store/stored-bytes.ts'
import type { CatalogState } from './catalog-state.ts'
import { flatten, inByteOrder } from './flatten.ts'
import type { EventPlan, Model, SourceState } from './model.ts'
import { foldSeed, masked, samplePriority } from './samples.ts'
import { formatKeys, type TypedKey } from './typed-keys.ts'
import type { HashSeed } from './value-hash.ts'
import type { Version } from './version.ts'

const MAX_IDENTIFIER = 1_024
const CUT_IDENTIFIER = 1_007
/** Models of which it is known that a cut was told; of the earliest of more than these it is told again. */
const MAX_TOLD = 100_000
/** Of a plan, beside its cells, about. */
const PLAN_BYTES = 400

/** What the observer needs of the header of a record. */
export interface ObservedBatch {
  readonly sourceId: string
  readonly acceptedAt: number
  readonly seed: Uint8Array
}

/** Counts events: each in its model and version, with its keys, its values and, now and then, as a sample. */
export class Observer {
  readonly #state: CatalogState
  readonly #database: CatalogDatabase
  readonly #seed: HashSeed
  readonly #onCut: (model: Model) => void
  /** Ids of models, which come and go in memory while these stay. */
  readonly #toldOfCut = new Set<number>()
  /** Of the record that is being observed. */
  #record = 0
  #source!: SourceState
  #acceptedAt = 0
  #first = 0
  #second = 0
  #mayGrow = true

  /** @param onCut told once of each model of which a limit has cut something. */
  constructor(state: CatalogState, database: CatalogDatabase, seed: HashSeed, onCut: (model: Model) => void) {
    this.#state = state
    this.#database = database
    this.#seed = seed
    this.#onCut = onCut
  }

  /** Number of the last record; grows by one with each. */
  get record(): number {
    return this.#record
  }

  /** Counts the events of a batch. @param duplicates indexes of events that are none. */
  observe(batch: ObservedBatch, events: readonly StoredEvent[], duplicates: ReadonlySet<number> | undefined): void {
    this.#record++
    this.#source = this.#state.source(batch.sourceId)
    this.#acceptedAt = batch.acceptedAt
    this.#first = foldSeed(batch.seed, 0)
    this.#second = foldSeed(batch.seed, 8)
    this.#mayGrow = !this.#state.isFull(this.#source)
    for (let i = 0; i < events.length; i++) {
      if (duplicates === undefined || !duplicates.has(i)) this.#observeEvent(events[i]!, i)
    }
  }

  #observeEvent(event: StoredEvent, index: number): void {
    const model = this.#modelOf(event)
    const { shapes } = model
    let plan = shapes.recognise(event)
    if (plan === undefined) {
      plan = this.#planFor(model, event)
      shapes.learn(event, plan, PLAN_BYTES + plan.cells.byteLength)
    }
    const { version } = plan
    model.usedAt = this.#record
    model.total++
    if (this.#acceptedAt > model.lastSeen) model.lastSeen = this.#acceptedAt
    if (!model.isChanged) this.#state.modelChanged(model)
    if (plan.cutKeys > 0 || plan.cutPaths > 0 || shapes.cutItems > 0) this.#countCuts(model, plan)
    if (version === undefined) this.#countUnversioned(model, plan)
    else this.#countVersion(model, version, plan)
    if (this.#source.samples === 'off' || !this.#mayGrow) return
    this.#sample(model, event, index)
    if (version !== undefined) this.#sample(version, event, index)
  }

  #modelOf(event: StoredEvent): Model {
    const { type } = event
    const hasName = type === 'track' || type === 'page' || type === 'screen'
    const identifier = hasName ? bounded(eventName(event)) : ''
    const known = this.#source.models.get(type)?.get(identifier)
    if (known !== undefined) return known
    const model = this.#state.model(this.#source, type, identifier, this.#acceptedAt)
    if (model.identifier !== identifier) {
      this.#cut(model, 'models', 1)
    }
    return model
  }

  #countVersion(model: Model, version: Version, { cells }: EventPlan): void {
    version.usedAt = this.#record
    version.total++
    if (this.#acceptedAt > version.lastSeen) version.lastSeen = this.#acceptedAt
    if (!version.isChanged) this.#state.versionChanged(version)
    if (!this.#source.hasValues) return
    const values = version.values ?? this.#state.values(version)
    const { leaves, leafCount } = model.shapes
    const { frequentPer } = this.#state.limits
    const observations = ++version.valued
    for (let i = 0; i < leafCount; i++) {
      const key = cells[i]!
      if (key < 0 || values.observe(key, leaves[i]!, this.#seed, observations, frequentPer, this.#mayGrow)) continue
      this.#cut(model, 'values', 1)
    }
    version.areValuesChanged = true
    if (values.isOverBound) this.#cut(model, 'values', values.reduce())
  }

  #countUnversioned(model: Model, { cells }: EventPlan): void {
    model.unversioned++
    this.#cut(model, 'unversionedEvents', 1)
    const rest = this.#state.rest(model)
    const { leaves, leafCount } = model.shapes
    const { frequentPer } = this.#state.limits
    model.isRestChanged = true
    for (let i = 0; i < leafCount; i++) {
      const key = cells[i]!
      if (key < 0) continue
      rest.count(key)
      if (!this.#source.hasValues) continue
      if (!rest.observe(key, leaves[i]!, this.#seed, frequentPer, this.#mayGrow)) this.#cut(model, 'values', 1)
    }
    if (rest.values.isOverBound) this.#cut(model, 'values', rest.values.reduce())
  }

  #sample(owner: Model | Version, event: JsonObject, index: number): void {
    const priority = samplePriority(owner.owner, this.#first, this.#second, index)
    if (priority >= owner.samples.bound) return
    const isMasked = this.#source.samples === 'masked'
    const text = JSON.stringify(isMasked ? masked(event) : event)
    const sql = 'INSERT OR IGNORE INTO samples (owner, priority, is_masked, event) VALUES (?, ?, ?, ?)'
    this.#database.run(sql, owner.owner, priority, isMasked ? 1 : 0, text)
    this.#source.bytes += Buffer.byteLength(text)
    this.#source.isChanged = true
    const displaced = owner.samples.add(priority)
    if (displaced === undefined) return
    const where = 'FROM samples WHERE owner = ? AND priority = ?'
    const row = this.#database.get(`SELECT ${SAMPLE_BYTES} AS bytes ${where}`, owner.owner, displaced)
    this.#database.run(`DELETE ${where}`, owner.owner, displaced)
    this.#source.bytes -= row?.['bytes'] ?? 0
  }

  /** What is to be done with events of this shape; the model has the keys afterwards that are new in it. */
  #planFor(model: Model, event: StoredEvent): EventPlan {
    const { keysPerEvent, keysPerModel } = this.#state.limits
    const leaves = flatten(event, this.#state.limits)
    const firstAt = new Map<string, number>()
    for (const [at, leaf] of leaves.entries()) if (leaf !== null && !firstAt.has(leaf.path)) firstAt.set(leaf.path, at)
    let room = keysPerModel - model.keys.size
    const kept = new Set<string>()
    for (const path of inByteOrder(firstAt.keys()).slice(0, keysPerEvent)) {
      if (!model.keys.has(path) && --room < 0) continue
      kept.add(path)
    }
    // In the order of the document.
    const keys = [...firstAt.entries()]
      .filter(([path]) => kept.has(path))
      .map(([path, at]): TypedKey => [path, leaves[at]!.type])
    for (const [path, type] of keys) addKey(model, path, type)
    const inOrder = Array.from(kept, (path): TypedKey => [path, leaves[firstAt.get(path)!]!.type])
    const shape = hash('sha256', formatKeys(inOrder), 'buffer')
    const version = this.#state.version(model, shape, keys, this.#acceptedAt)
    if (version === undefined) this.#cut(model, 'versions', 1)
    const cells = new Int32Array(leaves.length).fill(-1)
    // The version has the order of the document that made it, which may be another one.
    const numbered = version === undefined ? keys : this.#state.keysOf(version)
    for (const [number, [path, type]] of numbered.entries()) {
      if (type === 'unknown') continue
      cells[firstAt.get(path)!] = version === undefined ? this.#state.rest(model).numberOf(path) : number
    }
    const cutPaths = leaves.filter((leaf) => leaf === null).length
    return { version, cells, cutKeys: firstAt.size - keys.length, cutPaths }
  }

  #countCuts(model: Model, { cutKeys, cutPaths }: EventPlan): void {
    model.cutKeys += cutKeys
    this.#cut(model, 'keys', cutKeys)
    this.#cut(model, 'paths', cutPaths)
    this.#cut(model, 'arrayItems', model.shapes.cutItems)
  }

  #cut(model: Model, kind: keyof SourceState['cut'], count: number): void {
    if (count === 0) return
    const { source } = model
    source.cut[kind] += count
    source.isChanged = true
    if (this.#toldOfCut.has(model.id)) return
    this.#toldOfCut.add(model.id)
    if (this.#toldOfCut.size > MAX_TOLD) this.#toldOfCut.delete(this.#toldOfCut.values().next().value!)
    this.#onCut(model)
  }
}

function addKey(model: Model, path: string, type: string): void {
  const known = model.keys.get(path)
  if (known?.split(',').includes(type) === true) return
  model.keys.set(path, known === undefined ? type : `${known},${type}`)
  model.areKeysChanged = true
}

/** @see contracts/schema-catalog.md §5 [D311] */
function bounded(identifier: string): string {
  if (identifier.length <= MAX_IDENTIFIER) return identifier
  return `${identifier.slice(0, CUT_IDENTIFIER)}~${hash('sha256', identifier).slice(0, 16)}`
}
