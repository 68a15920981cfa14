import { Suspense, useMemo, useState } from 'react'
import { useDestinationDefinitions } from '../../api/destination-definitions.ts'
import { useTransformations } from '../../api/transformations.ts'
import { Choice } from '../../components/choice.tsx'
import { Refusal } from '../../components/form/refusal.tsx'
import { lazyPart } from '../../components/lazy-part.ts'
import { useIsNarrow } from '../../components/use-is-narrow.ts'
import { PageHead } from '../../shell/page/page-head.tsx'
import { eventTexts, pageTexts, testBenchTexts } from '../../texts.ts'
import { BenchActions } from './bench-actions.tsx'
import { BenchControls } from './bench-controls.tsx'
import { type ShownResult, shownAt } from './bench-result.ts'
import type { Workspace } from './bench-target.ts'
import { MessagePane } from './message-pane.tsx'
import styles from './test-bench.module.css'
import { useBench } from './use-bench.ts'

const StagesPane = lazyPart(() => import('./result-panes.tsx').then(({ StagesPane }) => ({ default: StagesPane })))
const RequestsPane = lazyPart(() =>
  import('./result-panes.tsx').then(({ RequestsPane }) => ({ default: RequestsPane })),
)

const PANES = ['Message', 'Stages', 'Request and response'] as const

export function Bench({ workspace }: { readonly workspace: Workspace }) {
  const bench = useBench(workspace)
  const { search, target, run } = bench
  const definitions = useDestinationDefinitions().data ?? []
  const transformations = useTransformations().data
  const names = useMemo(() => new Map((transformations ?? []).map(({ id, name }) => [id, name])), [transformations])
  const [chosenId, setChosenId] = useState<string>()
  const [pane, setPane] = useState<(typeof PANES)[number]>('Message')
  const isNarrow = useIsNarrow()
  const result = run && shownAt(run.results, chosenId)
  const skipReason = result && skippedBecause(result, workspace)
  const isShown = (name: (typeof PANES)[number]) => !isNarrow || pane === name
  const start = async () => {
    await bench.start()
    setPane((before) => (before === 'Message' ? 'Stages' : before))
  }
  const unknown = target === undefined ? unknownTarget(search) : undefined

  return (
    <>
      <PageHead title="Test bench" actions={target !== undefined && <BenchActions bench={bench} target={target} />} />
      <BenchControls bench={{ ...bench, start }} workspace={workspace} definitions={definitions} />
      {unknown !== undefined && <Notice text={pageTexts.gone(unknown.thing, unknown.id)} />}
      <Refusal error={bench.error} />
      {skipReason !== undefined && <Notice text={skipReason} />}
      {result?.extras?.batch && (
        <p className={styles.note}>{testBenchTexts.wouldBatch(result.extras.batch.maxEvents)}</p>
      )}
      {result?.extras?.warnings?.map((text) => (
        <Notice key={text} text={text} />
      ))}
      {isNarrow && (
        <div className={styles.panes}>
          <Choice
            label="Pane"
            options={PANES.map((value) => ({ value, text: value === 'Request and response' ? 'Requests' : value }))}
            value={pane}
            onChange={setPane}
            isWide
          />
        </div>
      )}
      <div className={styles.bench}>
        {isShown('Message') && (
          <MessagePane
            search={search}
            set={bench.set}
            origins={bench.origins}
            text={bench.text}
            faults={'fault' in bench.read && bench.read.fault !== undefined ? [bench.read.fault] : []}
            onWrite={bench.write}
            onOrigin={() => bench.write(undefined)}
            onRun={() => void start()}
            note={bench.isGone ? goneText(search.event) : undefined}
          />
        )}
        <Suspense>
          {isShown('Stages') && (
            <StagesPane
              bench={bench}
              result={result}
              names={names}
              chosenId={result?.destinationId}
              onChoose={setChosenId}
            />
          )}
          {isShown('Request and response') && <RequestsPane result={result} />}
        </Suspense>
      </div>
    </>
  )
}

/** Why live traffic would skip the destination; reasons that no longer apply since the run are omitted. */
function skippedBecause({ destinationId, extras }: ShownResult, workspace: Workspace): string | undefined {
  const { reason = null, leftOutBy: [leftOut] = [] } = extras?.filter ?? {}
  const rule = leftOut?.rule === undefined ? '' : ` (${leftOut.rule.text})`
  if (reason === null) {
    // Without a source the message might come from any that is connected.
    const source = workspace.sources.find(({ id }) => id === leftOut?.sourceId)
    return leftOut && testBenchTexts.wouldSkipFrom(source?.name ?? leftOut.sourceId, `${leftOut.reason}${rule}`)
  }
  const isEnabledSince = workspace.destinations.find(({ id }) => id === destinationId)?.enabled === true
  if (reason === 'destination is disabled' && isEnabledSince) return undefined
  return testBenchTexts.wouldSkip(`${reason}${rule}`)
}

function Notice({ text }: { readonly text: string }) {
  return (
    <p className={styles.notice} role="status">
      {text}
    </p>
  )
}

function goneText(event: string | undefined): string {
  return event === undefined ? 'Its samples are no longer stored.' : eventTexts.unknown(event)
}

function unknownTarget({ destination, source }: { destination?: string; source?: string }) {
  if (destination !== undefined) return { thing: 'Destination', id: destination }
  return source === undefined ? undefined : { thing: 'Source', id: source }
}
