import { Button } from '@mantine/core'
import type { Replay } from '@millrace/api-types'
import { replayOutcome } from '@millrace/wording'
import { isRunning } from '../../api/replays.ts'
import { Refusal } from '../../components/form/refusal.tsx'
import { Failed } from '../../components/states/failed.tsx'
import type { ReadState } from '../../components/states/read-state.ts'
import { Stale } from '../../components/states/stale.tsx'
import { pageTexts, replayTexts } from '../../texts.ts'

interface CountFailureProps {
  /** Why the dry run did not start; null if it did. */
  readonly error: Error | null
  /** The dry run. */
  readonly reading: ReadState<Replay>
  /** Counts again; without it the page has a button of its own. */
  readonly onRetry?: () => void
}

/** Why a dry run has no count; nothing while it runs, and once it has counted. */
export function CountFailure({ error, reading, onRetry }: CountFailureProps) {
  const { data: dryRun } = reading
  const hasEnded = dryRun !== undefined && !isRunning(dryRun)
  if (error === null && hasEnded && dryRun.matched !== null) return null
  if (error === null && !hasEnded) {
    if (reading.error === null) return null
    return dryRun === undefined ? <Failed of={reading} error={reading.error} thing="Replay" /> : <Stale of={reading} />
  }
  return (
    <>
      <Refusal error={error} />
      {error === null && dryRun !== undefined && <p role="alert">{replayTexts.notCounted(replayOutcome(dryRun))}</p>}
      {onRetry !== undefined && (
        <div>
          <Button variant="default" onClick={onRetry}>
            {pageTexts.retry}
          </Button>
        </div>
      )}
    </>
  )
}
