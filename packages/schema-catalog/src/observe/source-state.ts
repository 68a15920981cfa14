import type { CutCounts } from './cut.ts'
import type { Model } from './model.ts'
import type { SampleMode } from './samples.ts'

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
