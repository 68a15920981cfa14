import { Button, Switch } from '@mantine/core'
import type { Transformation } from '@millrace/api-types'
import type { JsonObject } from '@millrace/protocol/json'
import { Suspense, useEffect, useRef, useState } from 'react'
import type { Code } from '../../../api/code.ts'
import { useRunTransformation, useTransformationTests } from '../../../api/transformations.ts'
import { CodeEditor } from '../../../components/editor/code-editor.tsx'
import type { CodePlace } from '../../../components/editor/editor-props.ts'
import { Refusal } from '../../../components/form/refusal.tsx'
import { lazyPart } from '../../../components/lazy-part.ts'
import { OriginSelect } from '../../../components/message-origin/origin-select.tsx'
import {
  type MessageName,
  useMessageOrigins,
  useNamedMessage,
} from '../../../components/message-origin/use-message-origins.ts'
import { NeedsRole } from '../../../components/needs-role.tsx'
import { useSearchValues } from '../../../shell/search-values.ts'
import { eventTexts } from '../../../texts.ts'
import { codeSearch } from '../code-search.ts'
import { type EventRun, eventRuns, eventsText, readEvents } from '../test-run.ts'
import styles from '../transformations.module.css'
import { SaveAsTest } from './save-as-test.tsx'

const RunResults = lazyPart(() => import('./run-results.tsx').then(({ RunResults }) => ({ default: RunResults })))

const AFTER_TYPING_MS = 800
const EXAMPLE: JsonObject = { type: 'track', messageId: 'm-1', event: 'Seat Reserved', properties: { price: 18.5 } }

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
  const [search, set] = useSearchValues(codeSearch)
  const { event, dead, sample } = search
  const destinationId = transformation.destinations[0]
  const origins = useMessageOrigins({
    ...(destinationId === undefined ? {} : { destinationId }),
    stage: 'user_transformation',
    isEnabled: true,
  })
  const tests = useTransformationTests(transformation.id).data?.tests ?? []
  const isNamed = event !== undefined || dead !== undefined || sample !== undefined
  const newest = origins.recent[0]?.messageId
  const first: MessageName = isNamed || newest === undefined ? search : { event: newest }
  const named = useNamedMessage(first)
  const [pasted, paste] = useState<string>()
  const [isLive, setLive] = useState(false)
  const shown = named ?? (origins.isEmpty || named === null ? EXAMPLE : undefined)
  const text = pasted ?? (shown === undefined ? '' : JSON.stringify(shown, null, 2))
  const read = readEvents(text)
  const { mutateAsync, error, isPending } = useRunTransformation()
  const [run, setRun] = useState<{ runs: readonly EventRun[]; logs: readonly string[] }>()

  const start = async () => {
    if (!('events' in read)) return
    const { code, language } = written
    try {
      const { body } = await mutateAsync({ code, language, events: read.events })
      const runs = eventRuns(read.events, body)
      setRun({ runs, logs: body.logs })
      onFailure(runs.find(({ error }) => error !== undefined)?.error)
    } catch (failure) {
      // The results below belong to earlier code; the error is shown above them.
      setRun(undefined)
      onFailure(failure as Error)
    }
  }
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

  const choose = (name: MessageName) => {
    paste(undefined)
    set({ event: undefined, dead: undefined, sample: undefined, ...name }, 'push')
  }
  const fault = 'fault' in read ? read.fault : undefined
  return (
    <section className={styles.pane} aria-label="Try it">
      <div className={styles.paneLine}>
        <OriginSelect
          label="Origin of the event"
          name={first}
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
      {named === null && (
        <p className={styles.dim} role="status">
          {first.event === undefined ? 'Its samples are no longer stored.' : eventTexts.unknown(first.event)}
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
