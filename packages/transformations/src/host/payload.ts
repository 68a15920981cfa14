import { isJsonObject, type JsonObject } from '@millrace/protocol'
import type { EventMetadata, StepHeader } from '../messages.ts'
import type { EventResult, InputEvent, Run, RunResult, StepFlow, StepResult } from '../run.ts'

/** The two texts by which a batch crosses. */
export function payloadOf(events: readonly InputEvent[]): { events: string; metadata: string } {
  const shared = new Map<JsonObject, number>()
  const use = events.map(({ metadata }) => {
    const known = shared.get(metadata)
    if (known !== undefined) return known
    shared.set(metadata, shared.size)
    return shared.size - 1
  })
  const metadata: EventMetadata = {
    shared: [...shared.keys()].map((each) => JSON.stringify(each)),
    ...(shared.size > 1 ? { use } : {}),
    ...(events.some(({ jobId }) => jobId !== undefined) ? { jobIds: events.map(({ jobId }) => jobId ?? null) } : {}),
  }
  return { events: JSON.stringify(events.map(({ event }) => event)), metadata: JSON.stringify(metadata) }
}

/**
 * Results by event. If any output of an event failed in a later step, the whole event has failed (contracts/transformations.md §6).
 *
 * @param steps SettledMessage.steps
 * @returns undefined when the texts are not what a sandbox makes: its code has changed what they are made with.
 */
export function resultsOf(run: Run, steps: readonly string[]): Pick<RunResult, 'results' | 'flow'> | undefined {
  const read = steps.map((text) => readStep(text, run.events.length))
  if (read.length === 0 || !read.every((step) => step !== undefined)) return undefined
  const last = read.length === run.steps.length ? read.at(-1)! : undefined
  const results = run.events.map((_, event) => {
    const result = resultOf(run, read, last, event)
    return run.mode === 'test' ? { ...result, steps: stepsOf(run, read, event) } : result
  })
  return { results, flow: flowOf(run, read) }
}

function flowOf({ events }: Run, read: readonly StepOutputs[]): StepFlow[] {
  let comingIn = events.length
  return read.map(({ outputs, errors }) => {
    const out = outputs.reduce((sum, { length }) => sum + length, 0)
    const flow = { in: comingIn, out, errors: errors.size }
    comingIn = out
    return flow
  })
}

/** What the text of a step says; both by event of the run. */
interface StepOutputs {
  readonly outputs: readonly (readonly JsonObject[])[]
  readonly errors: ReadonlyMap<number, string>
  /** Of one output, on the average. */
  readonly outputBytes: number
}

function resultOf(run: Run, read: readonly StepOutputs[], last: StepOutputs | undefined, event: number): EventResult {
  for (const [at, { errors }] of read.entries()) {
    const error = errors.get(event)
    if (error === undefined) continue
    const { transformationId, versionId } = run.steps[at]!
    return { error, transformationId, versionId, isRetryable: false }
  }
  const events = last?.outputs[event] ?? []
  return events.length === 0 ? { dropped: true } : { events, sizeBytes: events.length * last!.outputBytes }
}

function stepsOf(run: Run, read: readonly StepOutputs[], event: number): StepResult[] {
  const results: StepResult[] = []
  for (const [at, { outputs, errors }] of read.entries()) {
    const { transformationId, versionId } = run.steps[at]!
    const error = errors.get(event)
    const events = outputs[event]!
    results.push({ transformationId, versionId, ...(error === undefined ? { events } : { error }) })
    if (error !== undefined || events.length === 0) break
  }
  return results
}

function readStep(text: string, count: number): StepOutputs | undefined {
  try {
    const end = text.indexOf('\n')
    const header = JSON.parse(text.slice(0, end)) as StepHeader
    const outputs = (end + 1 < text.length ? JSON.parse(text.slice(end + 1)) : []) as JsonObject[]
    const of = header.of ?? outputs.map((_, at) => at)
    const byEvent = Array.from({ length: count }, (): JsonObject[] => [])
    for (const [at, output] of outputs.entries()) {
      if (!isJsonObject(output)) return undefined
      byEvent[of[at]!]!.push(output)
    }
    return {
      outputs: byEvent,
      errors: new Map((header.errors ?? []).toReversed()),
      outputBytes: Math.ceil((text.length - end) / Math.max(1, outputs.length)),
    }
  } catch {
    return undefined
  }
}
