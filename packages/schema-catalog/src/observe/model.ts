import type { CutCounts } from './cut.ts'
import type { SampleMode, SamplePriorities } from './samples.ts'
import type { Shapes } from './shapes.ts'
import type { Unversioned } from './unversioned.ts'
import type { Version } from './version.ts'

/** What is done with an event of a shape that has been seen before. */
export interface EventPlan {
  /** Undefined: it only counts in the model. */
  readonly version: Version | undefined
  /** For each leaf the number of its key in the version or, without one, in `rest`; -1 where it does not count. */
  readonly cells: Int32Array
  readonly cutKeys: number
  readonly cutPaths: number
}

/** A model's counts, and how its events are recognised. */
export class Model {
  readonly id: number
  readonly eventId: string
  readonly source: SourceState
  readonly type: string
  readonly identifier: string
  readonly createdAt: number
  lastSeen: number
  total: number
  unversioned: number
  versionCount: number
  cutKeys: number
  /** Type names by path, comma-joined, both in order of arrival. */
  readonly keys: Map<string, string>
  keyBytes: number
  readonly samples: SamplePriorities
  readonly shapes: Shapes<EventPlan>
  /** Those in memory, by the hash of their shape. */
  readonly versions = new Map<string, Version>()
  /** Undefined while it is on disk only. */
  rest: Unversioned | undefined
  isRestChanged = false
  restBytes: number
  isChanged = false
  areKeysChanged = false
  usedAt = 0

  constructor(
    fields: Pick<
      Model,
      | 'id'
      | 'eventId'
      | 'source'
      | 'type'
      | 'identifier'
      | 'createdAt'
      | 'lastSeen'
      | 'total'
      | 'unversioned'
      | 'versionCount'
      | 'cutKeys'
      | 'keys'
      | 'keyBytes'
      | 'samples'
      | 'shapes'
      | 'restBytes'
    >,
  ) {
    this.id = fields.id
    this.eventId = fields.eventId
    this.source = fields.source
    this.type = fields.type
    this.identifier = fields.identifier
    this.createdAt = fields.createdAt
    this.lastSeen = fields.lastSeen
    this.total = fields.total
    this.unversioned = fields.unversioned
    this.versionCount = fields.versionCount
    this.cutKeys = fields.cutKeys
    this.keys = fields.keys
    this.keyBytes = fields.keyBytes
    this.samples = fields.samples
    this.shapes = fields.shapes
    this.restBytes = fields.restBytes
  }

  get owner(): number {
    return 2 * this.id
  }
}

/** What the catalog is told of a source. */
export interface CatalogSource {
  readonly id: string
  readonly writeKey: string
  readonly samples: SampleMode
  readonly hasValues: boolean
}

/** A source as it is observed. */
export class SourceState {
  readonly id: string
  writeKey: string
  samples: SampleMode
  hasValues: boolean
  modelCount: number
  /** Of all that is kept of it, about. */
  bytes: number
  readonly cut: CutCounts
  isChanged = false
  /** The models in memory, by type and identifier. */
  readonly models = new Map<string, Map<string, Model>>()

  constructor({ id, writeKey, samples, hasValues }: CatalogSource, modelCount: number, bytes: number, cut: CutCounts) {
    this.id = id
    this.writeKey = writeKey
    this.samples = samples
    this.hasValues = hasValues
    this.modelCount = modelCount
    this.bytes = bytes
    this.cut = cut
  }
}
