import type { Destination } from '@millrace/api-types'
import type { Tagged } from '../../api/requests/reading.ts'

export interface DestinationTabProps {
  readonly destination: Tagged<Destination>
}
