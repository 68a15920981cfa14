import type { EventModelWithExtras, EventVersion, Source } from '@millrace/api-types'

export interface ModelTabProps {
  readonly model: EventModelWithExtras
  /** Ordered by first seen. */
  readonly versions: readonly EventVersion[]
  /** Undefined if it was deleted. */
  readonly source: Source | undefined
}
