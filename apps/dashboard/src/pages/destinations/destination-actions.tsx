import { Button } from '@mantine/core'
import type { Connection } from '@millrace/api-types'
import { useState } from 'react'
import { useConnections } from '../../api/connections.ts'
import { useChangeDestination, useDeliveryState, waitingOf } from '../../api/destinations.ts'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { Refusal } from '../../components/form/refusal.tsx'
import { LinkButton } from '../../components/link-button.tsx'
import { NeedsRole } from '../../components/needs-role.tsx'
import { destinationTexts } from '../../texts.ts'
import { MAX_IDS } from '../replays/replays-search.ts'
import type { DestinationTabProps } from './destination-tab-props.ts'

/** Try it, bring it earlier events, and switch it on or off. */
export function DestinationActions({ destination }: DestinationTabProps) {
  const { id, etag, enabled, name } = destination
  const { mutate, mutateAsync, error, isPending } = useChangeDestination()
  const [isAsked, setAsked] = useState(false)
  const connections = useConnections().data ?? []
  return (
    <>
      <Refusal error={isAsked ? null : error} />
      <LinkButton variant="default" to="/test" search={{ destination: id }}>
        Test with an event
      </LinkButton>
      {enabled && (
        <NeedsRole role="editor">
          <LinkButton variant="default" to="/replays/new" search={replaySearch(id, connections)}>
            Replay events
          </LinkButton>
        </NeedsRole>
      )}
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
          <p>New events are not sent to it while it is disabled.</p>
        </ConfirmDialog>
      )}
    </>
  )
}

/** Of every source that it is connected to, unless they are more than a link holds. */
function replaySearch(destinationId: string, connections: readonly Connection[]): Record<string, string> {
  const sources = connections.filter((each) => each.destinationId === destinationId).map(({ sourceId }) => sourceId)
  return { destinations: destinationId, sources: sources.length > MAX_IDS ? '' : sources.join(',') }
}

function WaitingStay({ id }: { readonly id: string }) {
  const delivery = useDeliveryState(id).data
  const waiting = delivery === undefined ? 0 : waitingOf(delivery)
  return waiting === 0 ? null : <p>{destinationTexts.waitingStay(waiting)}</p>
}
