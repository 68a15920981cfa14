import type { Rendered } from '@millrace/api-types'
import type { JsonValue } from '@millrace/protocol/json'
import { useEffect } from 'react'
import { useRenderedTrace } from '../../../api/events.ts'
import { usedBody, useTestDestination } from '../../../api/test-api.ts'
import { DiffView } from '../../../components/diff/diff-view.tsx'
import { Refusal } from '../../../components/form/refusal.tsx'
import { JsonView } from '../../../components/json/json-view.tsx'
import { shownText } from '../../../components/json/shown-text.ts'
import { Shown } from '../../../components/states/shown.tsx'
import { traceTexts } from '../../../texts.ts'
import { renderedJourney, renderedToday } from './rendered-journey.ts'
import type { StepDiffsProps } from './step-diffs-props.ts'
import styles from './trace.module.css'

/** The result of each step for an event, with the original versions if they still exist. */
export function RenderedSteps({ trace, journey, steps }: StepDiffsProps) {
  const { messageId, sourceId, position, event } = trace
  const reading = useRenderedTrace(messageId, { sourceId, render: journey.destinationId })
  return (
    <Shown of={reading}>
      {(events) => {
        const rendered = renderedJourney(events, position, journey)
        if (rendered === undefined) return <TodaysSteps trace={trace} journey={journey} steps={steps} />
        return <Steps event={event} rendered={rendered} steps={steps} />
      }}
    </Shown>
  )
}

const WITHOUT_SENDING = { user_transform: true, dest_transform: true, send_to_destination: false }

/** Shown if the original versions cannot be used. */
function TodaysSteps({ trace: { event }, journey: { destinationId }, steps }: StepDiffsProps) {
  const { mutate, data, error } = useTestDestination()
  useEffect(() => {
    mutate({ id: destinationId, stage: WITHOUT_SENDING, message: event, force: true })
  }, [mutate, destinationId, event])
  if (error !== null) return <Refusal error={error} />
  if (data === undefined) return <p className={styles.dim}>Running …</p>
  const result = data.body
  if ('error' in result) return <p className={styles.dim}>{shownText(result.error)}</p>
  return <Steps event={event} rendered={renderedToday(result)} steps={steps} />
}

interface StepsProps {
  readonly event: StepDiffsProps['trace']['event']
  readonly rendered: Rendered
  readonly steps: StepDiffsProps['steps']
}

function Steps({ event, rendered, steps }: StepsProps) {
  const nameOf = (id: string) => steps.find(({ transformationId }) => transformationId === id)?.name ?? 'Transformation'
  const made = rendered.steps.map(({ output }): JsonValue => (output.length === 1 ? output[0]! : [...output]))
  return (
    <>
      {rendered.versions === 'today' && <p className={styles.dim}>{traceTexts.todaysConfiguration}</p>}
      {rendered.steps.map(({ transformationId, versionId, output, error }, at) => (
        <section key={versionId} className={styles.step}>
          <p className={styles.heading}>{nameOf(transformationId)}</p>
          {error !== null ? (
            <JsonView value={error} what="error" maxHeight={200} />
          ) : output.length === 0 ? (
            <p>{traceTexts.returnedNothing(nameOf(transformationId))}</p>
          ) : (
            <DiffView
              before={made[at - 1] ?? event}
              after={made[at]!}
              what={`What ${nameOf(transformationId)} changed`}
            />
          )}
        </section>
      ))}
      {rendered.requests.map((request, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: requests have no other name
        <section key={at} className={styles.step}>
          <p className={styles.heading}>Request</p>
          <p className={styles.endpoint}>
            <code>
              {request.method} {shownText(request.endpoint)}
            </code>
          </p>
          <JsonView value={usedBody(request)?.value ?? {}} what="request body" maxHeight={320} />
        </section>
      ))}
      {rendered.steps.length === 0 && rendered.requests.length === 0 && (
        <p className={styles.dim}>No step produced an event.</p>
      )}
    </>
  )
}
