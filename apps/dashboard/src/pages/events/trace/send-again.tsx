import { Button } from '@mantine/core'
import { useReplayDeadLetter } from '../../../api/dead-letters.ts'
import { Refusal } from '../../../components/form/refusal.tsx'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { traceTexts } from '../../../texts.ts'
import { FollowReplay } from './follow-replay.tsx'
import styles from './trace.module.css'

/** Replays one dead letter, with the current configuration. */
export function SendAgain({ letterId }: { readonly letterId: string }) {
  const { mutate, data, error, isPending } = useReplayDeadLetter()
  return (
    <span className={styles.action}>
      {data === undefined ? (
        <NeedsRole role="editor">
          <Button variant="default" loading={isPending} onClick={() => mutate({ id: letterId })}>
            {traceTexts.sendAgain}
          </Button>
        </NeedsRole>
      ) : (
        <FollowReplay replayId={data.body.replayId} />
      )}
      <Refusal error={error} />
    </span>
  )
}
