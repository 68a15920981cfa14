import { Button } from '@mantine/core'
import { useState } from 'react'
import { useChangeDestination, useDeliveryState, waitingOf } from '../../api/destinations.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Refusal } from '../../components/form/refusal.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { NeedsRole } from '../../components/needs-role.tsx'
import { destinationTexts } from '../../texts.ts'
import type { DestinationTabProps } from './destination-page.tsx'

/** Try it, and switch it on or off. */
export function DestinationActions({ destination }: DestinationTabProps) {
  const { id, etag, enabled, name } = destination
  const { mutate, mutateAsync, error, isPending } = useChangeDestination()
  const [isAsked, setAsked] = useState(false)
  return (
    <>
      <Refusal error={isAsked ? null : error} />
      <LinkButton variant="default" to="/test" search={{ destination: id }}>
        Try with an event
      </LinkButton>
      <NeedsRole role="editor">
        {enabled ? (
          <Button variant="default" onClick={() => setAsked(true)}>
            Disable
          </Button>
        ) : (
          <Button loading={isPending} onClick={() => mutate({ id, etag, enabled: true })}>
            Enable
          </Button>
        )}
      </NeedsRole>
      {isAsked && (
        <ConfirmDialog
          title={`Disable ${name}`}
          action="Disable"
          onConfirm={() => mutateAsync({ id, etag, enabled: false })}
          onClose={() => setAsked(false)}
        >
          <WaitingStay id={id} />
          <p>Events that come meanwhile are not sent there.</p>
        </ConfirmDialog>
      )}
    </>
  )
}

function WaitingStay({ id }: { readonly id: string }) {
  const delivery = useDeliveryState(id).data
  return delivery === undefined ? null : <p>{destinationTexts.waitingStay(waitingOf(delivery))}</p>
}
