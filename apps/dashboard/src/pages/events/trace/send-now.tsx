import { Button } from '@mantine/core'
import type { EventTrace } from '@millrace/api-types'
import { useStartReplay } from '../../../api/replays.ts'
import { Refusal } from '../../../components/form/refusal.tsx'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { traceTexts } from '../../../texts.ts'
import { FollowReplay } from './follow-replay.tsx'
import styles from './trace.module.css'

interface SendNowProps {
  readonly trace: EventTrace
  readonly destinationId: string
}

/** Replays this one event to one destination. */
export function SendNow({ trace: { messageId, sourceId, acceptedAt }, destinationId }: SendNowProps) {
  const { mutate, data, error, isPending } = useStartReplay()
  const send = () =>
    mutate({
      sourceIds: [sourceId],
      destinationIds: [destinationId],
      from: acceptedAt,
      to: new Date(Date.parse(acceptedAt) + 1).toISOString(),
      filter: { messageIds: [messageId] },
    })
  return (
    <span className={styles.action}>
      {data === undefined ? (
        <NeedsRole role="editor">
          <Button variant="default" loading={isPending} onClick={send}>
            {traceTexts.sendNow}
          </Button>
        </NeedsRole>
      ) : (
        <FollowReplay replayId={data.body.replay.id} />
      )}
      <Refusal error={error} />
    </span>
  )
}
