import type { Attempt, TracedRequest } from '@millrace/api-types'
import { durationText } from '@millrace/wording'
import { Fragment } from 'react'
import { shownText } from '../../../components/json/shown-text.ts'
import { Time } from '../../../components/time/time.tsx'
import { useIsNarrow } from '../../../components/use-is-narrow.ts'
import styles from './trace.module.css'

interface AttemptTableProps {
  readonly request: TracedRequest
  readonly acceptedAt: string
}

/** One request with every attempt and its answer. */
export function AttemptTable({ request: { method, endpoint, rendered, attempts }, acceptedAt }: AttemptTableProps) {
  return (
    <div className={styles.request}>
      {endpoint !== undefined && (
        <p className={styles.endpoint}>
          <code>
            {method} {shownText(endpoint)}
          </code>
          {rendered && <span className={styles.dim}> recreated from the stored event</span>}
        </p>
      )}
      {attempts.length > 0 && <AttemptRows attempts={attempts} acceptedAt={acceptedAt} />}
    </div>
  )
}

interface AttemptRowsProps {
  readonly attempts: readonly Attempt[]
  readonly acceptedAt: string
}

export function AttemptRows({ attempts, acceptedAt }: AttemptRowsProps) {
  // An answer gets its own row if the last column is too narrow.
  const isNarrow = useIsNarrow()
  const hasOwnRow = ({ text }: Attempt) => isNarrow && Boolean(text)
  const answerOf = ({ text }: Attempt) => shownText(text ?? '')
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard
    <section className={styles.attempts} tabIndex={0} aria-label="Attempts">
      <table>
        <thead>
          <tr>
            <th scope="col">#</th>
            <th scope="col">At</th>
            <th scope="col">Status</th>
            <th scope="col">Took</th>
            <th scope="col">Waited</th>
            {!isNarrow && <th scope="col">Answer</th>}
          </tr>
        </thead>
        <tbody>
          {attempts.map((attempt, at) => (
            <Fragment key={`${attempt.n} ${attempt.at}`}>
              <tr data-goes-on={hasOwnRow(attempt) || undefined}>
                <td>{attempt.n}</td>
                <td>
                  <Time at={attempt.at} />
                </td>
                <td className={styles.status} data-class={attempt.class}>
                  {attempt.status}
                  {attempt.batch !== undefined && <span className={styles.dim}> in a batch of {attempt.batch}</span>}
                </td>
                <td>{durationText(attempt.durationMs)}</td>
                <td>{durationText(Date.parse(attempt.at) - endBefore(attempts, at, acceptedAt))}</td>
                {!isNarrow && <td className={styles.answer}>{answerOf(attempt)}</td>}
              </tr>
              {hasOwnRow(attempt) && (
                <tr>
                  <td colSpan={5} className={styles.answer}>
                    {answerOf(attempt)}
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** When the previous attempt ended, or the event was accepted. */
function endBefore(attempts: readonly Attempt[], at: number, acceptedAt: string): number {
  const before = attempts[at - 1]
  return before === undefined ? Date.parse(acceptedAt) : Date.parse(before.at) + before.durationMs
}
