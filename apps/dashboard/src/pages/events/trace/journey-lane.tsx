import type { EventTrace, Journey } from '@millrace/api-types'
import type { EventType } from '@millrace/protocol/event'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useDeadLetters } from '../../../api/dead-letters.ts'
import { serverNow } from '../../../api/requests/server-clock.ts'
import { shownText } from '../../../components/json/shown-text.ts'
import { StateMark } from '../../../components/state-mark.tsx'
import { useClock } from '../../../components/states/use-clock.ts'
import { OUTCOME_MARKS } from '../outcome-words.ts'
import { AttemptTable } from './attempt-table.tsx'
import { LaneAction } from './lane-action.tsx'
import { explained } from './outcome-sentence.ts'
import { StepDiffs } from './step-diffs.tsx'
import styles from './trace.module.css'
import type { TraceNames } from './use-trace-names.ts'

interface JourneyLaneProps {
  readonly journey: Journey
  readonly trace: EventTrace
  readonly names: TraceNames
  readonly onShowPayload: () => void
}

/** The path of an event to one destination, up to its current stage. */
export function JourneyLane({ journey, trace, names, onShowPayload }: JourneyLaneProps) {
  const { destinationId, outcome, replayId } = journey
  const [isOpen, setOpen] = useState(outcome !== 'delivered')
  const letter = useLetter(journey, trace.messageId)
  const steps = names.steps(journey)
  const clock = useClock(journey.waiting !== undefined)
  const now = clock + serverNow() - Date.now()
  const { text, action } = explained({
    journey,
    eventType: trace.event['type'] as EventType,
    acceptedAt: trace.acceptedAt,
    destinationType: names.typeName(destinationId),
    codeNames: steps.map(({ name }) => name),
    letter,
    now: new Date(now),
  })
  const { mark, word } = OUTCOME_MARKS[outcome]
  const name = names.destinationName(destinationId)
  return (
    <details
      className={styles.lane}
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      aria-label={name}
    >
      <summary className={styles.summary}>
        <span className={styles.laneName}>{name}</span>
        <StateMark kind={mark}>{word}</StateMark>
      </summary>
      <div className={styles.laneBody}>
        <p className={styles.sentence}>{shownText(text)}</p>
        {action !== undefined && (
          <div className={styles.actions}>
            <LaneAction action={action} trace={trace} journey={journey} steps={steps} onShowPayload={onShowPayload} />
          </div>
        )}
        {replayId !== null && (
          <p className={styles.dim}>
            Of <Link to={`/replays/${replayId}`}>a replay</Link>.
          </p>
        )}
        {steps.length > 0 && (
          <p className={styles.dim}>
            Through{' '}
            {steps.map(({ transformationId, versionId, name }, at) => (
              <span key={versionId}>
                {at > 0 && ', '}
                {transformationId === undefined ? (
                  name
                ) : (
                  <Link to={`/transformations/${transformationId}/versions`} search={{ version: versionId } as never}>
                    {name}
                  </Link>
                )}{' '}
                <code>{versionId.slice(-6)}</code>
              </span>
            ))}
          </p>
        )}
        {journey.requests.map((request, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: requests of one journey have no other name
          <AttemptTable key={at} request={request} acceptedAt={trace.acceptedAt} />
        ))}
        <StepDiffs trace={trace} journey={journey} steps={steps} />
      </div>
    </details>
  )
}

/** Only the dead letter contains the failed stage. */
function useLetter({ outcome, destinationId }: Journey, messageId: string) {
  const isDead = outcome === 'dead_lettered'
  const { data } = useDeadLetters({ destinationId, messageId, limit: 1 }, { isEnabled: isDead })
  return isDead ? data?.pages[0]?.elements[0] : undefined
}
