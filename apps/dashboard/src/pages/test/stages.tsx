import type { JsonObject } from '@millrace/protocol/json'
import { counted, durationText } from '@millrace/wording'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { StageFlags } from '../../api/test-api.ts'
import { DiffView } from '../../components/diff/diff-view.tsx'
import { JsonView } from '../../components/json/json-view.tsx'
import { shownText } from '../../components/json/shown-text.ts'
import { type MarkKind, StateMark } from '../../components/state-mark.tsx'
import {
  exchanges,
  type ProcessedResult,
  type StageOutcome,
  type StageState,
  type Step,
  stageOutcomes,
  stepsOf,
} from './bench-outcome.ts'
import styles from './test-bench.module.css'

interface StagesProps {
  readonly result: ProcessedResult
  readonly flags: StageFlags
  readonly message: JsonObject
  /** Names of transformations by id. */
  readonly names: ReadonlyMap<string, string>
}

/** The output of each stage. */
export function Stages({ result, flags, message, names }: StagesProps) {
  const { user, dest, send } = stageOutcomes(result, flags)
  const { extras = {} } = result
  const { timings, logs = [] } = extras
  const requests = exchanges(result)
  const sentMs = (timings?.requests ?? []).reduce((sum, { ms }) => sum + ms, 0)
  return (
    <ol className={styles.stages}>
      <Stage name="User transformation" outcome={user} ms={timings?.userTransformMs}>
        {stepsOf(message, extras).map((step, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same transformation may stand twice in a list
          <StepChange key={at} step={step} name={names.get(step.transformationId) ?? step.transformationId} />
        ))}
        {logs.length > 0 && <Logs lines={logs} />}
      </Stage>
      <Stage name="Destination transformation" outcome={dest} ms={timings?.destTransformMs}>
        {dest.state === 'ran' && <p className={styles.dim}>{counted(requests.length, 'request')}</p>}
      </Stage>
      <Stage name="Delivery" outcome={send} ms={send.word === undefined ? undefined : sentMs} />
    </ol>
  )
}

const WORDS: Readonly<Record<StageState, { readonly kind: MarkKind; readonly word: string }>> = {
  ran: { kind: 'ok', word: 'ran' },
  refused: { kind: 'failed', word: 'refused' },
  off: { kind: 'off', word: 'skipped: not selected' },
  aborted: { kind: 'off', word: 'skipped: an earlier stage failed' },
  none: { kind: 'off', word: 'skipped: nothing to do' },
  dropped: { kind: 'behind', word: 'dropped' },
  error: { kind: 'failed', word: 'error' },
}

interface StageProps {
  readonly name: string
  readonly outcome: StageOutcome
  readonly ms: number | undefined
  readonly children?: ReactNode
}

function Stage({ name, outcome: { state, word: own, text }, ms, children }: StageProps) {
  const { kind, word } = WORDS[state]
  return (
    <li className={styles.stage}>
      <div className={styles.stageHead}>
        <h3>{name}</h3>
        <StateMark kind={kind}>{own ?? word}</StateMark>
        {ms !== undefined && <span className={styles.ms}>{durationText(ms)}</span>}
      </div>
      {text !== undefined && <pre className={styles.errorText}>{shownText(text)}</pre>}
      {children}
    </li>
  )
}

function StepChange({ step, name }: { readonly step: Step; readonly name: string }) {
  const { transformationId, versionId, input, output, error } = step
  return (
    <div className={styles.step}>
      <p className={styles.stepHead}>
        <Link to={`/transformations/${transformationId}/code` as string} data-underlined>
          {name}
        </Link>
        <code className={styles.version} title={versionId}>
          {versionId.slice(0, 8)}
        </code>
        {error !== undefined && <StateMark kind="failed">failed</StateMark>}
        {error === undefined && output.length === 0 && <StateMark kind="behind">returned nothing</StateMark>}
        {output.length > 1 && <span className={styles.dim}>{counted(output.length, 'event')}</span>}
      </p>
      {output.map((event, at) => {
        // Several outputs of one event are compared with it; several inputs with their own outputs.
        const before = input.length === output.length ? input[at] : input.length === 1 ? input[0] : undefined
        return before === undefined ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: events of a list have no other name
          <JsonView key={at} value={event} what={`event ${at + 1} of ${name}`} maxHeight={320} />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          <DiffView key={at} before={before} after={event} what={`what ${name} changed`} same="No changes." />
        )
      })}
    </div>
  )
}

function Logs({ lines }: { readonly lines: readonly string[] }) {
  return (
    <div>
      <p className={styles.dim}>Logs</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard */}
      <pre className={styles.logs} tabIndex={0}>
        {lines.map(shownText).join('\n')}
      </pre>
    </div>
  )
}
