import type { Destination } from '../../api/destinations.ts'
import type { Tagged } from '../../api/reading.ts'

export interface DestinationTabProps {
  readonly destination: Tagged<Destination>
}
