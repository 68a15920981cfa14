import type { Tagged } from '../../api/reading.ts'
import type { Source } from '../../api/sources.ts'

export interface SourceTabProps {
  readonly source: Tagged<Source>
}
