import { PanelBoundary } from '../../components/states/panel-boundary.tsx'
import { testBenchTexts } from '../../texts.ts'
import { exchanges } from './bench-outcome.ts'
import type { ShownResult } from './bench-result.ts'
import { Requests } from './requests.tsx'
import { ResultChoice } from './result-choice.tsx'
import { Stages } from './stages.tsx'
import styles from './test-bench.module.css'
import type { Bench } from './use-bench.ts'

interface StagesPaneProps {
  readonly bench: Bench
  readonly result: ShownResult | undefined
  /** Names of transformations by id. */
  readonly names: ReadonlyMap<string, string>
  readonly chosenId: string | undefined
  readonly onChoose: (destinationId: string) => void
}

export function StagesPane({ bench, result, names, chosenId, onChoose }: StagesPaneProps) {
  const { run, target, message } = bench
  return (
    <section className={styles.pane} aria-label="Stages">
      <h2>Stages</h2>
      {run === undefined ? (
        <p className={styles.dim}>
          {target !== undefined && 'fault' in bench.read
            ? testBenchTexts.correctMessage
            : target === undefined || message === undefined
              ? testBenchTexts.choose
              : 'Run the message to see the result of each stage.'}
        </p>
      ) : (
        <PanelBoundary>
          {bench.isOld && <p className={styles.dim}>Result of the run before your last change.</p>}
          <ResultChoice run={run} chosenId={chosenId} onChoose={onChoose} />
          {result !== undefined && 'data' in result && (
            <Stages result={result} flags={run.stage} message={run.message} names={names} />
          )}
        </PanelBoundary>
      )}
    </section>
  )
}

export function RequestsPane({ result }: { readonly result: ShownResult | undefined }) {
  return (
    <section className={styles.pane} aria-label="Request and response">
      <h2>Request and response</h2>
      {result !== undefined && 'data' in result && (
        <PanelBoundary>
          <Requests exchanges={exchanges(result)} />
        </PanelBoundary>
      )}
    </section>
  )
}
