import type { Clock, Logger, Timer } from '@millrace/std'
import type { CheckedCode, CheckResult, LibraryCode } from '../code.ts'
import type { TransformFetch } from '../fetch.ts'
import { KILL_GRACE_MS, type TransformationLimits } from '../limits.ts'
import type { EventResult, PackedRun, Run, RunResult, TroubleKind } from '../run.ts'
import { CredentialMask } from './credential-mask.ts'
import { FairTurns } from './fair-turns.ts'
import { packedEvents, resultsOf } from './payload.ts'
import { Penalties } from './penalties.ts'
import { type RunEnd, runInWorker } from './run-in-worker.ts'
import { SandboxRegistry } from './sandbox-registry.ts'
import { Usage } from './usage.ts'
import { Worker, type WorkerName } from './worker.ts'

export interface SandboxesOptions {
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

/** The end of a run whose signal was aborted: nobody is at fault. */
const GIVEN_UP: RunEnd = {
  end: { kind: 'lost', trouble: 'timed out', isOwnFault: false },
  starved: { computedShare: 0 },
}

const OVERLOADED = 'the machine is overloaded: the process of user code waited for a processor until its time limit'

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
export class Sandboxes {
  readonly #options: SandboxesOptions
  readonly #live: readonly Worker[]
  readonly #penalty: Worker
  readonly #test: Worker
  readonly #check: Worker
  readonly #registry: SandboxRegistry
  readonly #usage: Usage
  /** By key: its runs one after the other. */
  readonly #runs = new Map<string, FairTurns>()
  readonly #penalties: Penalties
  readonly #credentialIds = new WeakMap<ReadonlyMap<string, string>, number>()
  readonly #closing = new AbortController()
  readonly #troubles = { 'timed out': 0, 'out of memory': 0, 'sandbox lost': 0, 'invalid message': 0 }
  #credentialMaps = 0
  #freshSandboxes = 0
  #runCount = 0
  #sweep: Timer | undefined

  constructor(options: SandboxesOptions) {
    this.#options = options
    const { limits, clock, logger, program } = options
    this.#registry = new SandboxRegistry(limits.sandboxes, limits.totalMb * 1024 * 1024)
    this.#usage = new Usage(clock, limits.workers)
    this.#penalties = new Penalties(clock, logger)
    const usedBy = (key: string) => this.#usage.usedBy(key)
    const worker = (name: WorkerName, places: FairTurns) => {
      const start = { memoryMb: limits.memoryMb, niceness: NICENESS[name], program }
      const onLost = (lost: Worker) => this.#registry.lost(lost)
      return new Worker({ name, start, places, usedBy, clock, logger, onLost })
    }
    // Those who wait for a busy penalty or test process must not take the places of live traffic.
    const aside = Math.max(1, Math.floor(limits.sandboxes / 8))
    const live = new FairTurns(Math.max(1, limits.sandboxes - 2 * aside), usedBy)
    this.#live = Array.from({ length: limits.workers }, () => worker('live', live))
    this.#penalty = worker('penalty', new FairTurns(aside, usedBy))
    this.#test = worker('test', new FairTurns(aside))
    // It has no sandbox that stays.
    this.#check = worker('check', new FairTurns(1))
  }

  /**
   * Whether code may be saved: its syntax, its entry, its imports. None of it runs.
   *
   * @param libraries those that it may import, and those that they import.
   */
  async check(code: CheckedCode, libraries: readonly LibraryCode[]): Promise<CheckResult> {
    await this.#check.turn('')
    try {
      if (this.#closing.signal.aborted) return { ok: false, error: TROUBLE_TEXTS['sandbox lost'] }
      const message = { kind: 'check', code, libraries } as const
      const asked = { kind: 'check', code: code.kind } as const
      const { syncMs, wallMs } = this.#options.limits
      const limits = { computeMs: syncMs + KILL_GRACE_MS, wallMs: wallMs + KILL_GRACE_MS }
      const { reply, time } = await this.#check.child().ask(message, [], asked, limits)
      this.#startSweeping()
      if (reply.kind === 'checked') return reply.result
      if (time.waitedMs > wallMs / 2) {
        const waitedMs = Math.round(time.waitedMs)
        this.#options.logger.warn({ waitedMs }, `${OVERLOADED}, and code could not be checked`)
      }
      return { ok: false, error: TROUBLE_TEXTS[reply.kind === 'lost' ? reply.trouble : 'sandbox lost'] }
    } finally {
      this.#check.turns.done()
    }
  }

  /**
   * Runs a batch. Batches of one key run one after the other, in the order of the calls; a batch whose code fails or
   * faults is a result and no exception.
   */
  run({ events, ...run }: Run): Promise<RunResult> {
    // Packed when its turn comes: until then the events are in memory once.
    return this.#inTurn({ ...run, count: events.length, texts: () => packedEvents(events) })
  }

  /** The same for events that another thread has packed. */
  runPacked({ texts, ...run }: PackedRun): Promise<RunResult> {
    return this.#inTurn({ ...run, texts: () => texts })
  }

  async #inTurn(run: WaitingRun): Promise<RunResult> {
    const key = run.mode === 'live' ? run.key : `test ${++this.#freshSandboxes}`
    const askedAt = this.#options.clock.monotonic()
    const own = this.#runs.get(key) ?? new FairTurns(1)
    this.#runs.set(key, own)
    await own.next(key)
    try {
      const { places } = this.#workerFor(run, key)
      if (!(await places.next(key, run.signal))) return this.#resultOf(run, GIVEN_UP)
      return await this.#run(run, key, askedAt).finally(() => places.done())
    } finally {
      if (own.waiting === 0) this.#runs.delete(key)
      own.done()
    }
  }

  figures(): TransformationFigures {
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

  async #run(run: WaitingRun, key: string, askedAt: number): Promise<RunResult> {
    const { clock, limits, fetch, logger } = this.#options
    const { signal: closing } = this.#closing
    const texts = run.texts()
    const worker = await this.#turnOf(run, key)
    if (worker === undefined) return this.#resultOf(run, GIVEN_UP)
    const leftMs = run.wallMs === undefined ? limits.wallMs : run.wallMs - (clock.monotonic() - askedAt)
    this.#startSweeping()
    this.#runCount++
    const ended = await runInWorker({
      worker,
      message: {
        kind: 'run',
        key,
        isFresh: run.mode === 'test',
        versionIds: run.steps.map(({ versionId }) => versionId),
        credentialsId: this.#credentialsId(run.credentials),
        captureLogs: run.captureLogs,
        count: run.count,
      },
      texts,
      code: run.steps,
      credentials: run.credentials,
      syncMs: limits.syncMs,
      wallMs: Math.max(1, Math.min(leftMs, limits.wallMs)),
      countsWaits: run.countsWaits === true,
      onBegin: () => this.#registry.begin(key, worker, clock.monotonic()),
      onStretch: (used) => {
        if (run.mode === 'live') this.#usage.add(key, used)
      },
      onStarved: ({ waitedMs, runsAgain }) => {
        const next = runsAgain ? 'and runs again with more time' : 'and could not finish'
        logger.warn({ destinationId: run.key, waitedMs }, `${OVERLOADED}, ${next}`)
      },
      fetch: run.isOffline === true ? undefined : fetch && ((request, signal) => fetch(request, signal, run.key)),
      clock,
      signal: run.signal === undefined ? closing : AbortSignal.any([closing, run.signal]),
    })
    const { end } = ended
    this.#registry.end(key, worker, end.kind === 'settled' ? end.sandboxBytes : 0, clock.monotonic())
    return this.#resultOf(run, ended)
  }

  #resultOf(run: WaitingRun, ended: RunEnd): RunResult {
    const { end } = ended
    const told = end.kind === 'settled' ? end : { logs: [], loggedBy: [], loggedFor: [] }
    // All of them: a variable of the code may hold one that an earlier run asked for.
    const usedCredentials = [...run.credentials.values()].filter((value) => value !== '')
    const mask = new CredentialMask(usedCredentials)
    const logs = told.logs.map((line) => mask.logLine(line))
    const shown = { logs, loggedBy: told.loggedBy, loggedFor: told.loggedFor, usedCredentials }
    if (end.kind === 'lost' || end.trouble !== undefined)
      return { ...this.#troubled(run, ended, end.trouble!), ...shown }
    const { results, flow } = resultsOf(run, end.steps)
    return { results: results.map((each) => maskedErrors(each, mask)), flow, ...shown }
  }

  #troubled(run: WaitingRun, { end, starved }: RunEnd, kind: TroubleKind) {
    const isOwnFault = end.kind === 'settled' || end.isOwnFault
    if (starved === undefined) {
      this.#troubles[kind]++
      if (isOwnFault && run.mode === 'live') this.#penalties.add(run.key, kind)
    }
    const text = TROUBLE_TEXTS[kind]
    return {
      results: failedForAll(run, text, true),
      flow: [],
      trouble: { kind, text, ...(starved === undefined ? {} : { starved }) },
    }
  }

  /** @returns a worker whose turn it is; undefined if the signal of the run was aborted. */
  async #turnOf(run: WaitingRun, key: string): Promise<Worker | undefined> {
    const worker = this.#workerFor(run, key)
    if (worker.name !== 'live') return (await worker.turn(key, undefined, run.signal)) ? worker : undefined
    const idle = () => this.#live.find(({ turns }) => !turns.isTaken)
    for (let tried = worker; ; tried = idle() ?? worker) {
      if (await tried.turn(key, () => idle() !== undefined)) return tried
    }
  }

  #workerFor(run: WaitingRun, key: string): Worker {
    if (run.mode === 'test') return this.#test
    if (this.#usage.isOverShare(key)) this.#penalties.add(key, 'over its share')
    if (this.#penalties.has(key)) return this.#penalty
    const known = this.#registry.workerOf(key)
    if (known !== undefined && known !== this.#penalty && !known.isHeld) return known
    const load = (worker: Worker) =>
      (worker.isHeld ? 1_000_000 : 0) + worker.turns.waiting * 1_000 + (worker === known ? 0 : worker.sandboxes)
    return this.#live.reduce((least, worker) => (load(worker) < load(least) ? worker : least))
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

type WaitingRun = Omit<PackedRun, 'texts'> & { readonly texts: () => PackedRun['texts'] }

function failedForAll({ count, steps }: WaitingRun, error: string, isRetryable: boolean): RunResult['results'] {
  const { transformationId, versionId } = steps[0]!
  return Array.from({ length: count }, () => ({ error, transformationId, versionId, isRetryable }))
}

function maskedErrors(result: EventResult, mask: CredentialMask): EventResult {
  if (!('error' in result) && result.steps === undefined) return result
  const steps = result.steps?.map((step) => {
    return step.error === undefined ? step : { ...step, error: mask.failure(step.error) }
  })
  const shown = 'error' in result ? { ...result, error: mask.failure(result.error) } : result
  return steps === undefined ? shown : { ...shown, steps }
}
