import type { Destination } from '@millrace/api-types'
import type { Tagged } from '../../api/reading.ts'

export interface DestinationTabProps {
  readonly destination: Tagged<Destination>
}
