import type { Source } from '@millrace/api-types'
import type { Tagged } from '../../api/reading.ts'

export interface SourceTabProps {
  readonly source: Tagged<Source>
}
