import { Button } from '@mantine/core'
import { counted } from '@millrace/wording'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useConnections } from '../../../api/connections.ts'
import { useDeleteDestination, useDeliveryState, waitingOf } from '../../../api/destinations.ts'
import { ApiError } from '../../../api/requests/failure.ts'
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx'
import { NeedsRole } from '../../../components/needs-role.tsx'
import type { DestinationTabProps } from '../destination-tab-props.ts'
import styles from '../destinations.module.css'

export function DeleteDestination({ destination }: DestinationTabProps) {
  const [isAsked, setAsked] = useState(false)
  return (
    <section className={styles.danger} aria-label="Danger zone">
      <p>Delete this destination. Its waiting events and dead letters are discarded.</p>
      <NeedsRole role="editor">
        <Button variant="outline" color="bad" onClick={() => setAsked(true)}>
          Delete destination
        </Button>
      </NeedsRole>
      {isAsked && <DeleteDialog destination={destination} onClose={() => setAsked(false)} />}
    </section>
  )
}

/** Connections and waiting events have check boxes of their own. */
function DeleteDialog({ destination, onClose }: DestinationTabProps & { readonly onClose: () => void }) {
  const { id, etag, name } = destination
  const navigate = useNavigate()
  const { mutateAsync, error } = useDeleteDestination()
  const connections = useConnections().data?.filter(({ destinationId }) => destinationId === id) ?? []
  const delivery = useDeliveryState(id).data
  // What the server counted last is the truth; until it was asked, what is known of the state.
  const refused = error instanceof ApiError ? error.details?.['waiting'] : undefined
  const known = delivery === undefined ? 0 : waitingOf(delivery) + delivery.deadLettersOpen
  const waiting = typeof refused === 'number' ? refused : known
  const checks = [
    ...(connections.length > 0
      ? [{ name: 'cascade', label: `Remove its ${counted(connections.length, 'connection')}` }]
      : []),
    ...(waiting > 0
      ? [
          {
            name: 'discard',
            label: `Discard ${counted(waiting, 'event')} that ${waiting === 1 ? 'waits' : 'wait'} or ended as dead letters`,
          },
        ]
      : []),
  ]
  return (
    <ConfirmDialog
      title={`Delete ${name}`}
      action="Delete"
      checks={checks}
      onConfirm={async () => {
        await mutateAsync({ id, etag, cascade: connections.length > 0, discard: waiting > 0 })
        await navigate({ to: '/destinations' })
      }}
      onClose={onClose}
    >
      <p>No more events are sent to it.</p>
    </ConfirmDialog>
  )
}
