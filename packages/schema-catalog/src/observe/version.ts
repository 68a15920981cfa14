import type { SamplePriorities } from './samples.ts'
import type { ValueTable } from './value-table.ts'

/** A version's counts; its keys are only read from the database. */
export class Version {
  readonly id: number
  readonly firstSeen: number
  lastSeen: number
  total: number
  /** Events whose values were counted. */
  valued: number
  readonly samples: SamplePriorities
  /** Undefined while they are on disk only. */
  values: ValueTable | undefined
  isChanged = false
  areValuesChanged = false
  /** Bytes of the values on disk. */
  valueBytes: number
  /** Number of the record that used it last. */
  usedAt = 0

  constructor(fields: Pick<Version, 'id' | 'firstSeen' | 'lastSeen' | 'total' | 'valued' | 'samples' | 'valueBytes'>) {
    this.id = fields.id
    this.firstSeen = fields.firstSeen
    this.lastSeen = fields.lastSeen
    this.total = fields.total
    this.valued = fields.valued
    this.samples = fields.samples
    this.valueBytes = fields.valueBytes
  }

  get owner(): number {
    return 2 * this.id + 1
  }
}
