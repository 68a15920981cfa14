import { VisuallyHidden } from '@mantine/core'
import type { ListedEvent } from '@millrace/api-types'
import type { Waiting } from '@millrace/wording'
import { serverNow } from '../../api/requests/server-clock.ts'
import { firstLine } from '../../components/json/shown-text.ts'
import { StateMark } from '../../components/state-mark.tsx'
import { waitingText } from '../../components/time/waiting-text.ts'
import styles from './events.module.css'
import { OUTCOME_MARKS } from './outcome-words.ts'

const MAX_MARKS = 6

interface OutcomeMarksProps {
  readonly outcomes: ListedEvent['outcomes']
  readonly nameOf: (destinationId: string) => string
}

/** One mark per destination; a single mark, or several equal ones, with the word. */
export function OutcomeMarks({ outcomes, nameOf }: OutcomeMarksProps) {
  const [first, ...others] = outcomes
  if (first === undefined) return <span className={styles.none}>–</span>
  const isAlike = others.every(({ outcome }) => outcome === first.outcome)
  const now = serverNow()
  const why = (waiting: Waiting | undefined) => (waiting === undefined ? undefined : waitingText(waiting, now))
  const told = outcomes.map(({ destinationId, outcome, reason, waiting }) =>
    [`${nameOf(destinationId)}: ${OUTCOME_MARKS[outcome].word}`, why(waiting) ?? (reason && firstLine(reason))]
      .filter(Boolean)
      .join(', '),
  )
  return (
    <span className={styles.outcomes} title={told.join('\n')}>
      {isAlike ? (
        <>
          <StateMark kind={OUTCOME_MARKS[first.outcome].mark}>
            {OUTCOME_MARKS[first.outcome].word + (others.length > 0 ? ` ×${outcomes.length}` : '')}
          </StateMark>
          {first.waiting !== undefined && others.length === 0 && (
            <span className={styles.why}>{why(first.waiting)}</span>
          )}
        </>
      ) : (
        <>
          {outcomes.slice(0, MAX_MARKS).map(({ destinationId, outcome }) => (
            <StateMark key={destinationId} kind={OUTCOME_MARKS[outcome].mark}>
              {''}
            </StateMark>
          ))}
          {outcomes.length > MAX_MARKS && <span aria-hidden="true">+{outcomes.length - MAX_MARKS}</span>}
          <VisuallyHidden>{told.join('; ')}</VisuallyHidden>
        </>
      )}
    </span>
  )
}
