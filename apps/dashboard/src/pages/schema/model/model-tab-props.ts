import type { EventModelWithExtras, EventVersion, Source } from '@millrace/api-types'

export interface ModelTabProps {
  readonly model: EventModelWithExtras
  /** By first seen. */
  readonly versions: readonly EventVersion[]
  /** Undefined when it was deleted. */
  readonly source: Source | undefined
}
