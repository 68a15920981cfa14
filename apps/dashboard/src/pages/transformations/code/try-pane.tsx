import { Button, Switch } from '@mantine/core'
import type { Transformation } from '@millrace/api-types'
import { Suspense, useEffect, useRef, useState } from 'react'
import type { Code } from '../../../api/code.ts'
import { useTransformationTests } from '../../../api/transformations.ts'
import { CodeEditor } from '../../../components/editor/code-editor.tsx'
import type { CodePlace } from '../../../components/editor/editor-props.ts'
import { FaultLines } from '../../../components/fault-lines.tsx'
import { Refusal } from '../../../components/form/refusal.tsx'
import { lazyPart } from '../../../components/lazy-part.ts'
import { OriginSelect } from '../../../components/message-origin/origin-select.tsx'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { eventTexts } from '../../../texts.ts'
import { eventsText } from '../test-run.ts'
import styles from '../transformations.module.css'
import { SaveAsTest } from './save-as-test.tsx'
import { useCodeRun } from './use-code-run.ts'
import { useTriedEvents } from './use-tried-events.ts'

const RunResults = lazyPart(() => import('./run-results.tsx').then(({ RunResults }) => ({ default: RunResults })))

const AFTER_TYPING_MS = 800

interface TryPaneProps {
  readonly transformation: Transformation
  readonly written: Pick<Code, 'code' | 'language'>
  /** Set to a function that runs the code, for the editor's keyboard shortcut. */
  readonly runner: { current: () => void }
  readonly onPlace: (place: CodePlace) => void
  /** Called after every run with its failure, or undefined. */
  readonly onFailure: (failure: Error | string | undefined) => void
}

/** Events, and the code's output for them. */
export function TryPane({ transformation, written, runner, onPlace, onFailure }: TryPaneProps) {
  const { origins, name, isGone, text, read, paste, choose } = useTriedEvents(transformation)
  const tests = useTransformationTests(transformation.id).data?.tests ?? []
  const [isLive, setLive] = useState(false)
  const { run, start, error, isPending } = useCodeRun({ written, read, onFailure })
  const latest = useRef(start)
  useEffect(() => {
    latest.current = start
    runner.current = () => void start()
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: every change of code or events starts it anew
  useEffect(() => {
    if (!isLive) return
    const timer = setTimeout(() => void latest.current(), AFTER_TYPING_MS)
    return () => clearTimeout(timer)
  }, [isLive, written.code, written.language, text])

  const fault = 'fault' in read ? read.fault : undefined
  return (
    <section className={styles.pane} aria-label="Try it">
      <div className={styles.paneLine}>
        <OriginSelect
          label="Origin of the event"
          name={name}
          origins={origins}
          others={{
            group: 'Stored tests',
            items: tests.map(({ id, name }) => ({ value: `test:${id}`, label: name })),
          }}
          onOther={(value) => {
            const test = tests.find(({ id }) => value === `test:${id}`)
            if (test !== undefined) paste(eventsText(test.input))
          }}
          onName={choose}
        />
        <NeedsRole role="editor">
          <Button
            loading={isPending}
            disabled={!('events' in read)}
            title="Ctrl or ⌘ and Enter"
            onClick={() => void start()}
          >
            Run
          </Button>
        </NeedsRole>
      </div>
      {isGone && (
        <p className={styles.dim} role="status">
          {name.event === undefined ? 'Its samples are no longer stored.' : eventTexts.unknown(name.event)}
        </p>
      )}
      <CodeEditor
        label="Events"
        language="json"
        value={text}
        onChange={paste}
        onRun={() => void start()}
        faults={fault === undefined ? NO_FAULTS : [fault]}
        minHeight={120}
        maxHeight="32vh"
      />
      <FaultLines faults={fault === undefined ? NO_FAULTS : [fault]} />
      <div className={styles.paneLine}>
        <NeedsRole role="editor">
          <Switch
            size="xs"
            label="Run while typing"
            checked={isLive}
            onChange={({ currentTarget }) => setLive(currentTarget.checked)}
          />
        </NeedsRole>
        {run !== undefined && <SaveAsTest transformation={transformation} runs={run.runs} />}
      </div>
      <Refusal error={error} />
      {run !== undefined && (
        <Suspense>
          <RunResults runs={run.runs} logs={run.logs} onPlace={onPlace} />
        </Suspense>
      )}
    </section>
  )
}

const NO_FAULTS = [] as const
