import type { JsonObject } from '@millrace/protocol'
import type { SharedMetadata } from '../messages.ts'
import type { EventResult, InputEvent, PackedRun, RunResult, StepFlow, StepResult } from '../run.ts'
import type { StepOutputs } from './child-messages.ts'

/** The two texts by which a batch crosses: events and metadata. */
export function packedEvents(events: readonly InputEvent[]): PackedRun['texts'] {
  const shared = new Map<JsonObject, number>()
  const use = events.map(({ metadata }) => {
    const known = shared.get(metadata)
    if (known !== undefined) return known
    shared.set(metadata, shared.size)
    return shared.size - 1
  })
  const metadata: SharedMetadata = {
    shared: [...shared.keys()].map((each) => JSON.stringify(each)),
    ...(shared.size > 1 ? { use } : {}),
    ...(events.some(({ jobId }) => jobId !== undefined) ? { jobIds: events.map(({ jobId }) => jobId ?? null) } : {}),
  }
  return [JSON.stringify(events.map(({ event }) => event)), JSON.stringify(metadata)]
}

/** What results are read with. */
type Started = Pick<PackedRun, 'count' | 'mode' | 'steps'>

/** Results by event. If any output of an event failed in a later step, the whole event has failed (contracts/transformations.md §6). */
export function resultsOf(run: Started, steps: readonly StepOutputs[]): Pick<RunResult, 'results' | 'flow'> {
  const last = steps.length === run.steps.length ? steps.at(-1)! : undefined
  const results = Array.from({ length: run.count }, (_, event) => {
    const result = resultOf(run, steps, last, event)
    return run.mode === 'test' ? { ...result, steps: stepsOf(run, steps, event) } : result
  })
  return { results, flow: flowOf(run, steps) }
}

function flowOf({ count }: Started, steps: readonly StepOutputs[]): StepFlow[] {
  let comingIn = count
  return steps.map(({ count: out, errors }) => {
    const flow = { in: comingIn, out, errors: errors.size }
    comingIn = out
    return flow
  })
}

function resultOf(
  run: Started,
  steps: readonly StepOutputs[],
  last: StepOutputs | undefined,
  event: number,
): EventResult {
  for (const [at, { errors }] of steps.entries()) {
    const error = errors.get(event)
    if (error === undefined) continue
    const { transformationId, versionId } = run.steps[at]!
    return { error, transformationId, versionId, isRetryable: false }
  }
  const events = last?.outputs?.[event] ?? []
  return events.length === 0 ? { dropped: true } : { events, sizeBytes: events.length * last!.outputBytes }
}

function stepsOf(run: Started, steps: readonly StepOutputs[], event: number): StepResult[] {
  const results: StepResult[] = []
  for (const [at, { outputs, errors }] of steps.entries()) {
    const { transformationId, versionId } = run.steps[at]!
    const error = errors.get(event)
    const events = outputs?.[event] ?? []
    results.push({ transformationId, versionId, ...(error === undefined ? { events } : { error }) })
    if (error !== undefined || events.length === 0) break
  }
  return results
}
