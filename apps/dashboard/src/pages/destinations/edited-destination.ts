import type { Destination, DestinationWritten } from '@millrace/api-types'
import { useChangeDestination, useDestination } from '../../api/destinations.ts'
import type { EditedKind } from '../../components/form/use-edited.ts'

/** For `useEdited`. */
export const DESTINATION: EditedKind<Destination, DestinationWritten, { destination: Destination }> = {
  useOne: useDestination,
  useChange: useChangeDestination,
  oneOf: ({ destination }) => destination,
}
