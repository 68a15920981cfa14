import type { JsonValue } from '@millrace/protocol/json'
import { type Rendered, useEventTrace } from '../../../api/events.ts'
import { type TestResult, useTestDestination } from '../../../api/test-api.ts'
import { DiffView } from '../../../components/diff/diff-view.tsx'
import { Refusal } from '../../../components/form/refusal.tsx'
import { JsonView } from '../../../components/json/json-view.tsx'
import { Shown } from '../../../components/states/shown.tsx'
import { traceTexts } from '../../../texts.ts'
import type { StepDiffsProps } from './step-diffs.tsx'
import styles from './trace.module.css'

/** What each step makes of an event, with the versions of the time where they can still be used. */
export function RenderedSteps({ trace, journey, steps }: StepDiffsProps) {
  const { messageId, sourceId, position, event } = trace
  const reading = useEventTrace(messageId, { sourceId, render: journey.destinationId })
  return (
    <Shown of={reading}>
      {(events) => {
        const again = events.find((each) => each.position === position)
        const rendered = again?.destinations.find(
          ({ destinationId, replayId }) => destinationId === journey.destinationId && replayId === journey.replayId,
        )?.rendered
        if (rendered === undefined) return <TodaysSteps trace={trace} journey={journey} steps={steps} />
        return <Steps event={event} rendered={rendered} steps={steps} />
      }}
    </Shown>
  )
}

/** Where the server cannot make them with the versions of the time. */
function TodaysSteps({ trace: { event }, journey: { destinationId }, steps }: StepDiffsProps) {
  const { mutate, data, error, isPending, isIdle } = useTestDestination()
  const stage = { user_transform: true, dest_transform: true, send_to_destination: false }
  if (isIdle) mutate({ id: destinationId, stage, message: event, force: true })
  if (isPending || isIdle) return <p className={styles.dim}>Running …</p>
  const rendered = data && renderedOf(data.body)
  return (
    <>
      <Refusal error={error} />
      {rendered !== undefined && <Steps event={event} rendered={rendered} steps={steps} />}
    </>
  )
}

function renderedOf(result: TestResult): Rendered | undefined {
  if (!('data' in result)) return undefined
  const requests = result.data.flatMap(({ dest_transformed_payload: made }) => (Array.isArray(made) ? made : []))
  const steps = (result.extras?.steps ?? []).map(({ output = [], error = null, ...step }) => ({
    ...step,
    output,
    error,
  }))
  return { versions: 'today', steps, requests }
}

interface StepsProps {
  readonly event: StepDiffsProps['trace']['event']
  readonly rendered: Rendered
  readonly steps: StepDiffsProps['steps']
}

function Steps({ event, rendered, steps }: StepsProps) {
  const nameOf = (id: string) => steps.find(({ transformationId }) => transformationId === id)?.name ?? 'Transformation'
  let before: JsonValue = event
  return (
    <>
      {rendered.versions === 'today' && <p className={styles.dim}>{traceTexts.todaysConfiguration}</p>}
      {rendered.steps.map(({ transformationId, versionId, output, error }) => {
        const from = before
        const after: JsonValue = output.length === 1 ? output[0]! : [...output]
        before = after
        return (
          <section key={versionId} className={styles.step}>
            <p className={styles.heading}>{nameOf(transformationId)}</p>
            {error !== null ? (
              <JsonView value={error} what="error" maxHeight={200} />
            ) : output.length === 0 ? (
              <p>{traceTexts.returnedNothing(nameOf(transformationId))}</p>
            ) : (
              <DiffView before={from} after={after} what={`What ${nameOf(transformationId)} changed`} />
            )}
          </section>
        )
      })}
      {rendered.requests.map((request, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: requests have no other name
        <section key={at} className={styles.step}>
          <p className={styles.heading}>Request</p>
          <p className={styles.endpoint}>
            <code>
              {request.method} {request.endpoint}
            </code>
          </p>
          <JsonView value={bodyOf(request.body)} what="request body" maxHeight={320} />
        </section>
      ))}
      {rendered.steps.length === 0 && rendered.requests.length === 0 && (
        <p className={styles.dim}>No step made anything of it.</p>
      )}
    </>
  )
}

/** The one form of the body that is in use. */
function bodyOf(body: Rendered['requests'][number]['body']): JsonValue {
  const used = Object.values(body).find((each) => Object.keys(each).length > 0)
  return used ?? {}
}
