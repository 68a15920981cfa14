import type { Source } from '@millrace/api-types'
import type { Tagged } from '../../api/requests/reading.ts'

export interface SourceTabProps {
  readonly source: Tagged<Source>
}
