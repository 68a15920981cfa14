import { Button } from '@mantine/core'
import { counted } from '@millrace/wording'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { type DeadLetterChoice, useDiscardDeadLetters, useReplayDeadLetters } from '../../api/dead-letters.ts'
import { isRunning, useReplay } from '../../api/replays.ts'
import { Dialog } from '../../components/dialog.tsx'
import { Refusal } from '../../components/form/refusal.tsx'
import { deadLetterTexts } from '../../texts.ts'
import { CountFailure } from '../replays/count-failure.tsx'
import { RateField } from '../replays/rate-field.tsx'
import { estimateText } from '../replays/replay-words.ts'
import { STANDARD_RATE } from '../replays/replays-search.ts'
import styles from './dead-letters.module.css'

export interface LetterJob {
  readonly kind: 'replay' | 'discard'
  readonly choice: DeadLetterChoice
  /** The target: a destination's name, or `3 destinations`. */
  readonly target: string
}

/** Counts in a dry run, then asks for confirmation. The job's own page shows its progress. */
export function LetterJobDialog({ job, onClose }: { readonly job: LetterJob; readonly onClose: () => void }) {
  const { kind, choice, target } = job
  const replay = useReplayDeadLetters()
  const discard = useDiscardDeadLetters()
  const { mutateAsync } = kind === 'replay' ? replay : discard
  const [dryRunId, setDryRunId] = useState<string>()
  const [countError, setCountError] = useState<Error | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [isDoing, setDoing] = useState(false)
  const [rate, setRate] = useState(STANDARD_RATE)
  const navigate = useNavigate()
  const reading = useReplay(dryRunId)
  const dryRun = reading.data
  const hasEnded = dryRun !== undefined && !isRunning(dryRun)
  const matched = hasEnded ? dryRun.matched : null
  const isCounting = countError === null && reading.error === null && !hasEnded

  const count = () => {
    setCountError(null)
    setDryRunId(undefined)
    mutateAsync({ ...choice, dryRun: true }).then(({ body }) => setDryRunId(body.replayId), setCountError)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is asked about stays the same while the dialog is open
  useEffect(count, [])
  const start = async () => {
    setDoing(true)
    try {
      const { body } = await mutateAsync(kind === 'replay' ? { ...choice, rateEventsPerSecond: rate } : choice)
      await navigate({ to: `/replays/${body.replayId}` })
    } catch (failure) {
      setError(failure as Error)
      setDoing(false)
    }
  }

  return (
    <Dialog title={kind === 'replay' ? 'Send again' : 'Discard'} isWriting={isDoing} onClose={onClose}>
      <div className={styles.dialog}>
        <p role="status">
          {isCounting && 'Counting …'}
          {matched !== null &&
            (kind === 'replay'
              ? deadLetterTexts.sendAgain(matched, target)
              : `Discard ${counted(matched, 'event')} of ${target}? They will not be sent.`)}
        </p>
        {kind === 'replay' && matched !== null && matched > STANDARD_RATE && (
          <RateField rate={rate} onRate={setRate} description={estimateText(matched, rate)} />
        )}
        <CountFailure error={countError} reading={reading} onRetry={count} />
        <Refusal error={error} />
        <div className={styles.dialogActions}>
          <Button variant="default" disabled={isDoing} onClick={onClose}>
            Cancel
          </Button>
          <Button
            {...(kind === 'discard' ? { color: 'bad' } : {})}
            disabled={matched === null || matched === 0}
            loading={isDoing}
            onClick={() => void start()}
          >
            {kind === 'replay' ? 'Send again' : 'Discard'}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
