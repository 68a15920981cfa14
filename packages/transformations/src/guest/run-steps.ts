import { MAX_RESULT_CHARS } from '../limits.ts'
import type { FetchRequest, RunMessage, SettledMessage, StepHeader, ToChild } from '../messages.ts'
import { isRefusal, refusal } from './check.ts'
import type { RunSurroundings } from './host-calls.ts'
import type { Realm } from './realm.ts'
import type { Sandbox } from './sandbox.ts'
import { SandboxFault } from './sandbox-fault.ts'
import type { StrippedVersion } from './versions.ts'

export interface StepsOptions {
  readonly sandbox: Sandbox
  readonly surroundings: RunSurroundings
  readonly versions: readonly StrippedVersion[]
  readonly message: RunMessage
  /** What one step may compute. */
  readonly syncMs: number
  /** Called before each step but the first. */
  readonly onNextStep: () => void
  /** Hands over requests and resolves with answers, of these or of earlier ones. */
  readonly exchange: (fetches: readonly FetchRequest[]) => Promise<Answers>
}

export type Answers = Omit<Extract<ToChild, { kind: 'answers' }>, 'kind' | 'key'>

/**
 * Runs a batch through its list of transformations: what one gives is the next one's input, as text.
 *
 * @returns SettledMessage.steps
 * @throws SandboxFault
 */
export async function runSteps(options: StepsOptions): Promise<SettledMessage['steps']> {
  const { versions, message, syncMs, onNextStep } = options
  const deadline = performance.now() + message.remainingMs
  const steps: string[] = []
  let { events } = message
  let of = ''
  for (const [at, version] of versions.entries()) {
    if (at > 0) onNextStep()
    options.surroundings.step = at
    const realm = realmOf(version, options)
    let result: string
    if (typeof realm === 'string') {
      result = failedForAll(realm, of, message.count)
    } else {
      realm.allow(Math.min(syncMs, deadline - performance.now()))
      result = await runStep(realm, events, of, options)
    }
    if (result.length > MAX_RESULT_CHARS) throw new SandboxFault('out of memory')
    const isLast = at === versions.length - 1
    const end = result.indexOf('\n') + 1
    steps.push(isLast || message.isFresh ? result : result.slice(0, end))
    if (isLast) break
    events = result.slice(end)
    if (events === '[]') break
    // The realm has composed it with what it was given: it tells of the run's events, not of the step's.
    const header = JSON.parse(result.slice(0, end)) as StepHeader
    of = header.of === undefined ? of : JSON.stringify(header.of)
  }
  return steps
}

/** @returns the realm, or why the code cannot be compiled: a test run may bring any. */
function realmOf(version: StrippedVersion, { sandbox, message }: StepsOptions): Realm | string {
  if (version.refusal !== undefined) return version.refusal
  try {
    return sandbox.realm(version, message.versionIds)
  } catch (error) {
    if (sandbox.isDisposed) throw new SandboxFault('out of memory')
    if (!isRefusal(error)) throw error
    return refusal(error).error
  }
}

async function runStep(realm: Realm, events: string, of: string, options: StepsOptions): Promise<string> {
  const failure = await load(realm, options)
  if (failure !== undefined) {
    options.sandbox.forget(realm.versionId)
    return failedForAll(failure, of, options.message.count)
  }
  const entry = realm.entries()
  if (entry === '' || entry.includes(',')) {
    return failedForAll(`Expected one of transformEvent,transformBatch. Found ${entry}`, of, options.message.count)
  }
  let result = realm.start(entry, events, options.message.metadata, of)
  while (result === '') {
    await answers(realm, options)
    result = realm.result()
  }
  options.surroundings.forgetFetches()
  return result
}

/** @returns the failure text, where the code threw while it was loaded. */
async function load(realm: Realm, options: StepsOptions): Promise<string | undefined> {
  if (realm.isLoaded) return undefined
  realm.evaluate()
  while (!realm.isReady()) {
    if (options.surroundings.openFetches === 0 && realm.loadFailure !== undefined) return realm.loadFailure
    await answers(realm, options)
  }
  return undefined
}

/** @throws SandboxFault when nothing is on its way: what is open now can never settle. */
async function answers(realm: Realm, { surroundings, exchange, syncMs }: StepsOptions): Promise<void> {
  if (surroundings.openFetches === 0) throw new SandboxFault('timed out')
  const { answers, remainingMs } = await exchange(surroundings.takeFetches())
  realm.allow(Math.min(syncMs, remainingMs))
  for (const { id, answer } of answers) {
    if (surroundings.isAnswered(id)) realm.answer(id, JSON.stringify(answer))
  }
}

function failedForAll(text: string, of: string, count: number): string {
  const events = of === '' ? Array.from({ length: count }, (_, at) => at) : (JSON.parse(of) as number[])
  return `${JSON.stringify({ of: [], errors: events.map((event) => [event, text]) } satisfies StepHeader)}\n[]`
}
