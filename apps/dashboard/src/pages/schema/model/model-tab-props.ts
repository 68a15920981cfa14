import type { EventModel, EventVersion } from '../../../api/schemas.ts'
import type { Source } from '../../../api/sources.ts'

export interface ModelTabProps {
  readonly model: EventModel
  /** By first seen. */
  readonly versions: readonly EventVersion[]
  /** Undefined when it was deleted. */
  readonly source: Source | undefined
}
