import type { Clock, Timer } from '@millrace/std'
import type { CheckedCode, CheckResult, LibraryCode } from '../code.ts'
import type { TransformFetch } from '../fetch.ts'
import { PENALTY_MS, type TransformationLimits } from '../limits.ts'
import type { EventResult, Run, RunResult, TroubleKind } from '../run.ts'
import { payloadOf, resultsOf } from './payload.ts'
import { type RunEnd, runInWorker } from './run-in-worker.ts'
import { SandboxRegistry } from './sandbox-registry.ts'
import { Turns } from './turns.ts'
import { type Logger, Worker, type WorkerName } from './worker.ts'

export interface TransformationsOptions {
  readonly limits: TransformationLimits
  /** Undefined when the operator has switched it off. */
  readonly fetch: TransformFetch | undefined
  readonly clock: Clock
  readonly logger: Logger
  /** Another program for the child processes, for tests of what a child may do to the server. */
  readonly program?: string
}

export interface TransformationFigures {
  readonly sandboxes: number
  readonly children: number
  /** Destinations that run in the penalty process. */
  readonly penalised: number
  /** Since the start, live and test runs together. */
  readonly runs: number
  readonly troubles: Readonly<Record<TroubleKind, number>>
}

const TROUBLE_TEXTS: Readonly<Record<TroubleKind, string>> = {
  'timed out': 'Timed out',
  'out of memory': 'Memory limit exceeded',
  'sandbox lost': 'Sandbox lost',
  'invalid message': 'Sandbox sent an invalid message',
}

/** Of the system's processor: the server itself, then live traffic and who saves code, then tests, then those at fault. */
const NICENESS: Readonly<Record<WorkerName, number>> = { live: 5, check: 5, test: 10, penalty: 15 }

/** How often it is looked for sandboxes and processes that nobody uses; only while there are any. */
const SWEEP_MS = 10_000
/** A process without a sandbox ends after this long. */
const IDLE_CHILD_MS = 600_000

/**
 * Runs user code in sandboxes inside child processes. Nothing is started before the first use.
 *
 * @see contracts/transformations.md §7, §8, decision 0015
 */
export class Transformations {
  readonly #options: TransformationsOptions
  readonly #live: readonly Worker[]
  readonly #penalty: Worker
  readonly #test: Worker
  readonly #check: Worker
  readonly #registry: SandboxRegistry
  /** How many runs there may be at a time, waiting for the network or for their turn: each holds a sandbox. */
  readonly #places: Readonly<Record<Exclude<WorkerName, 'check'>, Turns>>
  /** By key: its runs one after the other. */
  readonly #runs = new Map<string, Turns>()
  /** By key: until when, on the monotonic clock, it runs in the penalty process. */
  readonly #penalties = new Map<string, number>()
  readonly #credentialIds = new WeakMap<ReadonlyMap<string, string>, number>()
  readonly #closing = new AbortController()
  readonly #troubles = { 'timed out': 0, 'out of memory': 0, 'sandbox lost': 0, 'invalid message': 0 }
  #credentialMaps = 0
  #freshSandboxes = 0
  #runCount = 0
  #sweep: Timer | undefined

  constructor(options: TransformationsOptions) {
    this.#options = options
    const { limits, clock, logger, program } = options
    this.#registry = new SandboxRegistry(limits.sandboxes, limits.totalMb * 1024 * 1024)
    const worker = (name: WorkerName) => {
      const start = { memoryMb: limits.memoryMb, niceness: NICENESS[name], program }
      return new Worker(name, start, clock, logger, (lost) => this.#registry.lost(lost))
    }
    this.#live = Array.from({ length: limits.workers }, () => worker('live'))
    this.#penalty = worker('penalty')
    this.#test = worker('test')
    this.#check = worker('check')
    // Those who wait for a busy penalty or test process must not take the places of live traffic.
    const aside = Math.max(1, Math.floor(limits.sandboxes / 8))
    const live = Math.max(1, limits.sandboxes - 2 * aside)
    this.#places = { live: new Turns(live), penalty: new Turns(aside), test: new Turns(aside) }
  }

  /**
   * Whether code may be saved: its syntax, its entry, its imports. None of it runs.
   *
   * @param libraries those that it may import, and those that they import.
   */
  async check(code: CheckedCode, libraries: readonly LibraryCode[]): Promise<CheckResult> {
    await this.#check.turns.next()
    try {
      if (this.#closing.signal.aborted) return { ok: false, error: TROUBLE_TEXTS['sandbox lost'] }
      const message = { kind: 'check', code, libraries } as const
      const asked = { kind: 'check', code: code.kind } as const
      const reply = await this.#check.child().ask(message, [], asked, this.#options.limits.syncMs)
      this.#startSweeping()
      if (reply.kind === 'checked') return reply.result
      return { ok: false, error: TROUBLE_TEXTS[reply.kind === 'lost' ? reply.trouble : 'sandbox lost'] }
    } finally {
      this.#check.turns.done()
    }
  }

  /**
   * Runs a batch. Batches of one key run one after the other, in the order of the calls; a batch whose code fails or
   * faults is a result and no exception.
   */
  async run(run: Run): Promise<RunResult> {
    const key = run.mode === 'live' ? run.key : `test ${++this.#freshSandboxes}`
    const own = this.#runs.get(key) ?? new Turns(1)
    this.#runs.set(key, own)
    await own.next()
    const places = this.#places[this.#workerFor(run, key).name as Exclude<WorkerName, 'check'>]
    await places.next()
    try {
      return await this.#run(run, key)
    } finally {
      places.done()
      if (own.waiting === 0) this.#runs.delete(key)
      own.done()
    }
  }

  figures(): TransformationFigures {
    this.#forgetPenalties()
    return {
      sandboxes: this.#registry.size,
      children: this.#workers().filter(({ isAlive }) => isAlive).length,
      penalised: this.#penalties.size,
      runs: this.#runCount,
      troubles: { ...this.#troubles },
    }
  }

  /** Ends every process; runs under way end as retryable. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#sweep?.cancel()
    await Promise.all(this.#workers().map((worker) => worker.stop()))
  }

  async #run(run: Run, key: string): Promise<RunResult> {
    const { clock, limits, fetch } = this.#options
    const worker = this.#workerFor(run, key)
    this.#registry.begin(key, worker, clock.monotonic())
    this.#startSweeping()
    this.#runCount++
    const end = await runInWorker({
      worker,
      message: {
        kind: 'run',
        key,
        isFresh: run.mode === 'test',
        versionIds: run.steps.map(({ versionId }) => versionId),
        credentialsId: this.#credentialsId(run.credentials),
        captureLogs: run.captureLogs,
        count: run.events.length,
      },
      texts: payloadOf(run.events),
      code: run.steps,
      credentials: run.credentials,
      syncMs: limits.syncMs,
      wallMs: Math.min(run.wallMs ?? limits.wallMs, limits.wallMs),
      fetch: run.isOffline === true ? undefined : fetch && ((request, signal) => fetch(request, signal, run.key)),
      clock,
      signal: this.#closing.signal,
    })
    this.#registry.end(key, worker, end.kind === 'settled' ? end.sandboxBytes : 0, clock.monotonic())
    return this.#resultOf(run, end)
  }

  #resultOf(run: Run, end: RunEnd): RunResult {
    const told = end.kind === 'settled' ? end : { logs: [], loggedBy: [], loggedFor: [], usedCredentials: [] }
    const usedCredentials = told.usedCredentials.flatMap((name) => run.credentials.get(name) ?? [])
    const logs = told.logs.map((line) => masked(line, usedCredentials))
    const shown = { logs, loggedBy: told.loggedBy, loggedFor: told.loggedFor, usedCredentials }
    if (end.kind === 'lost' || end.trouble !== undefined) return { ...this.#troubled(run, end, end.trouble!), ...shown }
    const { results, flow } = resultsOf(run, end.steps)
    const isTest = run.mode === 'test'
    return { results: isTest ? results.map((each) => maskedErrors(each, usedCredentials)) : results, flow, ...shown }
  }

  #troubled(run: Run, end: RunEnd, kind: TroubleKind) {
    const isOwnFault = end.kind === 'settled' || end.isOwnFault
    this.#troubles[kind]++
    const { clock, logger } = this.#options
    if (isOwnFault && run.mode === 'live') {
      this.#penalties.set(run.key, clock.monotonic() + PENALTY_MS)
      logger.info({ destinationId: run.key, trouble: kind }, 'a transformation runs in the penalty process')
    }
    const text = TROUBLE_TEXTS[kind]
    return { results: failedForAll(run, text, true), flow: [], trouble: { kind, text } }
  }

  #workerFor(run: Run, key: string): Worker {
    if (run.mode === 'test') return this.#test
    this.#forgetPenalties()
    if (this.#penalties.has(key)) return this.#penalty
    const known = this.#registry.workerOf(key)
    if (known !== undefined && known !== this.#penalty) return known
    const load = ({ turns, sandboxes }: Worker) => turns.waiting * 1_000 + sandboxes
    return this.#live.reduce((least, worker) => (load(worker) < load(least) ? worker : least))
  }

  /** The map keeps the order of their ends. */
  #forgetPenalties(): void {
    const now = this.#options.clock.monotonic()
    for (const [key, end] of this.#penalties) {
      if (end > now) break
      this.#penalties.delete(key)
    }
  }

  #credentialsId(credentials: ReadonlyMap<string, string>): number {
    let id = this.#credentialIds.get(credentials)
    if (id === undefined) {
      id = ++this.#credentialMaps
      this.#credentialIds.set(credentials, id)
    }
    return id
  }

  #startSweeping(): void {
    this.#sweep ??= this.#options.clock.setTimer(() => this.#sweepOnce(), SWEEP_MS)
  }

  #sweepOnce(): void {
    this.#sweep = undefined
    if (this.#closing.signal.aborted) return
    const now = this.#options.clock.monotonic()
    this.#registry.closeIdle(now)
    const alive = this.#workers().filter(({ isAlive }) => isAlive)
    for (const worker of alive) {
      if (worker.sandboxes === 0 && now - worker.lastUsed >= IDLE_CHILD_MS) void worker.stop()
    }
    if (alive.length > 0) this.#startSweeping()
  }

  #workers(): readonly Worker[] {
    return [...this.#live, this.#penalty, this.#test, this.#check]
  }
}

function failedForAll({ events, steps }: Run, error: string, isRetryable: boolean): RunResult['results'] {
  const { transformationId, versionId } = steps[0]!
  return events.map(() => ({ error, transformationId, versionId, isRetryable }))
}

function maskedErrors(result: EventResult, secrets: readonly string[]): EventResult {
  const steps = result.steps?.map((step) => {
    return step.error === undefined ? step : { ...step, error: masked(step.error, secrets) }
  })
  const shown = 'error' in result ? { ...result, error: masked(result.error, secrets) } : result
  return steps === undefined ? shown : { ...shown, steps }
}

function masked(text: string, secrets: readonly string[]): string {
  return secrets.filter((secret) => secret !== '').reduce((shown, secret) => shown.replaceAll(secret, '********'), text)
}
