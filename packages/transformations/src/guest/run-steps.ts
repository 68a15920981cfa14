import { MAX_FAILURE_CHARS, MAX_RESULT_BYTES } from '../limits.ts'
import type { RunMessage, StepHeader, TimeLeft } from '../messages.ts'
import { isRefusal, refusal } from './check.ts'
import type { PendingFetch, RunDeps } from './host-calls.ts'
import type { Realm } from './realm.ts'
import type { Sandbox } from './sandbox.ts'
import { SandboxFault } from './sandbox-fault.ts'
import type { StrippedVersion } from './versions.ts'

export interface StepsOptions {
  readonly sandbox: Sandbox
  readonly deps: RunDeps
  readonly versions: readonly StrippedVersion[]
  readonly message: RunMessage
  /** JSON array of the events. */
  readonly events: string
  /** JSON of EventMetadata. */
  readonly metadata: string
  /** Hands over requests and resolves with answers, of these or of earlier ones. */
  readonly exchange: (fetches: readonly PendingFetch[]) => Promise<FetchAnswers>
}

export interface FetchAnswers extends TimeLeft {
  readonly answers: readonly { readonly id: number; readonly answer: string }[]
}

/**
 * Runs a batch through its list of transformations: what one gives is the next one's input, as text.
 *
 * @returns texts of SettledMessage
 * @throws SandboxFault
 */
export async function runSteps(options: StepsOptions): Promise<readonly string[]> {
  const { versions, message, sandbox } = options
  const steps: string[] = []
  let { events } = options
  let of = ''
  let bytesLeft = MAX_RESULT_BYTES
  sandbox.allow(timeOf(message))
  for (const [at, version] of versions.entries()) {
    options.deps.step = at
    const realm = realmOf(version, options)
    const result =
      typeof realm === 'string' ? failedForAll(realm, of, message.count) : await runStep(realm, events, of, options)
    const isLast = at === versions.length - 1
    const end = result.indexOf('\n') + 1
    const step = isLast || message.isFresh ? result : result.slice(0, end)
    bytesLeft -= Buffer.byteLength(step)
    if (bytesLeft < 0 || result.length > MAX_RESULT_BYTES) throw new SandboxFault('out of memory')
    steps.push(step)
    if (isLast) break
    events = result.slice(end)
    if (events === '[]') break
    // The realm has composed it with what it was given: it tells of the run's events, not of the step's.
    const header = JSON.parse(result.slice(0, end)) as StepHeader
    of = header.of === undefined ? of : JSON.stringify(header.of)
  }
  return steps
}

/** Of one stretch: until it is over, or the run. */
function timeOf({ syncMs, remainingMs }: TimeLeft): number {
  return Math.min(syncMs, remainingMs)
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
  let result = realm.start(entry, events, options.metadata, of, options.message.count)
  while (result === '') {
    await answers(realm, options)
    result = realm.result()
  }
  options.deps.forgetFetches()
  return result
}

/** @returns the failure text, where the code threw while it was loaded. */
async function load(realm: Realm, options: StepsOptions): Promise<string | undefined> {
  if (realm.isLoaded) return undefined
  realm.evaluate()
  while (!realm.isReady()) {
    if (options.deps.openFetches === 0 && realm.loadFailure !== undefined) return realm.loadFailure
    await answers(realm, options)
  }
  return undefined
}

/** @throws SandboxFault when nothing is on its way: what is open now can never settle. */
async function answers(realm: Realm, { sandbox, deps, exchange }: StepsOptions): Promise<void> {
  if (deps.openFetches === 0) throw new SandboxFault('timed out')
  const given = await exchange(deps.takeFetches())
  sandbox.allow(timeOf(given))
  for (const { id, answer } of given.answers) {
    if (deps.isAnswered(id)) realm.answer(id, answer)
  }
}

function failedForAll(given: string, of: string, count: number): string {
  const text = given.slice(0, MAX_FAILURE_CHARS)
  const events = of === '' ? Array.from({ length: count }, (_, at) => at) : new Set(JSON.parse(of) as number[])
  const errors = [...events].map((event) => [event, text] as const)
  return `${JSON.stringify({ of: [], errors } satisfies StepHeader)}\n[]`
}
