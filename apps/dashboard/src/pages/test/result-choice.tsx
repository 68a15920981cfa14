import type { DestinationResult } from '@millrace/api-types'
import { shownText } from '../../components/json/shown-text.ts'
import { type MarkKind, StateMark } from '../../components/state-mark.tsx'
import { exchanges, isRefused, stageOutcomes } from './bench-outcome.ts'
import styles from './test-bench.module.css'
import type { BenchRun } from './use-bench-run.ts'

interface ResultChoiceProps {
  readonly run: BenchRun
  readonly chosenId: string | undefined
  readonly onChoose: (destinationId: string) => void
}

/** The destinations of a source with their results; for a single destination only why it did not run. */
export function ResultChoice({ run, chosenId, onChoose }: ResultChoiceProps) {
  const [only, ...others] = run.results
  if (only === undefined) return null
  if (others.length === 0) return 'error' in only ? <p className={styles.dim}>{shownText(only.error)}</p> : null
  return (
    <ul className={styles.results}>
      {run.results.map((result) => {
        const { kind, word } = fateOf(result, run)
        return (
          <li key={result.destinationId}>
            <button
              type="button"
              className={styles.result}
              aria-pressed={result.destinationId === chosenId}
              onClick={() => onChoose(result.destinationId)}
            >
              <span className={styles.resultName}>{result.destinationName}</span>
              <StateMark kind={kind}>{word}</StateMark>
            </button>
            {'error' in result && result.destinationId === chosenId && (
              <p className={styles.dim}>{shownText(result.error)}</p>
            )}
          </li>
        )
      })}
    </ul>
  )
}

/** The result of a destination, in a word. */
function fateOf(result: DestinationResult, { stage }: BenchRun): { kind: MarkKind; word: string } {
  if ('error' in result) return { kind: 'off', word: 'not run' }
  const outcomes = Object.values(stageOutcomes(result, stage))
  if (outcomes.some(({ state }) => state === 'error')) return { kind: 'failed', word: 'error' }
  if (outcomes.some(({ state }) => state === 'dropped')) return { kind: 'behind', word: 'dropped' }
  const statuses = exchanges(result).flatMap(({ status }) => (status === undefined ? [] : [status]))
  const refused = statuses.find(isRefused)
  if (refused !== undefined) return { kind: 'failed', word: `answered ${refused}` }
  return { kind: 'ok', word: statuses.length > 0 ? `answered ${statuses[0]}` : 'ran' }
}
