import { counted } from '@millrace/wording'
import { DiffView } from '../../../components/diff/diff-view.tsx'
import type { CodePlace } from '../../../components/editor/editor-props.ts'
import { shownText } from '../../../components/json/shown-text.ts'
import { StateMark } from '../../../components/state-mark.tsx'
import type { EventRun } from '../test-run.ts'
import styles from '../transformations.module.css'
import { FailureText } from './failure-text.tsx'

interface RunResultsProps {
  readonly runs: readonly EventRun[]
  readonly logs: readonly string[]
  readonly onPlace: (place: CodePlace) => void
}

/** The code's output for each event, and its log lines. */
export function RunResults({ runs, logs, onPlace }: RunResultsProps) {
  return (
    <div className={styles.results}>
      {runs.map((run, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: events of a run have no other name
        <section key={at} className={styles.resultOf} aria-label={`Result of event ${at + 1}`}>
          <p className={styles.resultHead}>
            {runs.length > 1 && <span>Event {at + 1}</span>}
            <Outcome run={run} />
          </p>
          {run.error !== undefined && <FailureText text={run.error} onPlace={onPlace} />}
          {run.outputs.map((output, index) => (
            <DiffView
              // biome-ignore lint/suspicious/noArrayIndexKey: outputs of an event have no other name
              key={index}
              before={run.input}
              after={output}
              what={`what changed in event ${at + 1}`}
              same="No changes."
            />
          ))}
        </section>
      ))}
      {logs.length > 0 && (
        <section aria-label="Logs of the run">
          <p className={styles.dim}>Logs</p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
          <pre className={styles.logs} tabIndex={0}>
            {logs.map(shownText).join('\n')}
          </pre>
        </section>
      )}
    </div>
  )
}

function Outcome({ run: { error, isDropped, outputs } }: { readonly run: EventRun }) {
  if (error !== undefined) return <StateMark kind="failed">failed</StateMark>
  if (isDropped) return <StateMark kind="behind">dropped</StateMark>
  return <StateMark kind="ok">{outputs.length === 1 ? 'ran' : counted(outputs.length, 'event')}</StateMark>
}
