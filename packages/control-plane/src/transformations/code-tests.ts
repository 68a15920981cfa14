import { isDeepStrictEqual } from 'node:util'
import { badRequest } from '@millrace/openapi'
import { type JsonObject, type JsonValue, ownMember } from '@millrace/protocol'
import { unavailable } from '../refusals.ts'
import type { Credentials } from '../resources/credentials.ts'
import type { ControlStore } from '../store/control-store.ts'
import type { Workspace } from '../workspace/workspace.ts'
import type { CodeChecks } from './code-checks.ts'
import type { CodeRun, CodeRuntime, EventRun } from './code-runtime.ts'
import {
  type CodeSources,
  type CodeToTest,
  codeToTest,
  readEvents,
  readMetadata,
  refuseOtherMembers,
} from './code-to-test.ts'
import { MAX_TEST_EVENTS } from './stored-tests.ts'
import type { StoredTest } from './transformation.ts'
import type { Transformations } from './transformations.ts'

/** Of one request, waits included. */
const MAX_MS = 60_000
/** Maximum of requests that run tests at a time; they share one child process. */
const MAX_AT_ONCE = 16
const TIMED_OUT = 'Timed out'

/** Masks values in output. */
export interface Mask {
  text(text: string): string
  value(value: JsonValue): JsonValue
}

export interface CodeTestsOptions {
  readonly workspace: Workspace
  readonly store: ControlStore
  readonly runtime: CodeRuntime
  readonly checks: CodeChecks
  readonly transformations: Transformations
  readonly credentials: Credentials
  readonly maskingOf: (values: readonly string[]) => Mask
}

/** Test runs of saved and unsaved code, and of stored tests. */
export class CodeTests {
  readonly #options: CodeTestsOptions
  #running = 0

  constructor(options: CodeTestsOptions) {
    this.#options = options
  }

  /**
   * @param written `{language, code, events, metadata}` and the like.
   * @param gone aborted when the caller goes away.
   * @returns `{"transformedEvents": […], "logs": […]}`
   * @throws ApiError 400 as on save, 404; 503 if too many tests run.
   */
  run(written: JsonObject, gone: AbortSignal): Promise<JsonObject> {
    return this.#inBounds(gone, async (limit) => {
      const transformationId = ownMember(written, 'transformationId')
      if (transformationId !== undefined && typeof transformationId !== 'string') {
        throw badRequest('transformationId must be a text')
      }
      const of = transformationId === undefined ? undefined : this.#options.transformations.get(transformationId)
      const hasCode = ownMember(written, 'code') !== undefined
      if (hasCode && of !== undefined) throw badRequest('Send code or transformationId, not both')
      if (!hasCode && of === undefined) {
        throw badRequest('Invalid Request. Missing parameters in transformation code block')
      }
      const events = readEvents(written, MAX_TEST_EVENTS)
      const metadata = this.#metadata(readMetadata(written))
      refuseOtherMembers(written, ['transformationId', 'events', 'metadata'])
      const code = await codeToTest(written, of, this.#sources())
      const tested = await this.#runOne(code, { events, metadata }, limit)
      return { transformedEvents: tested.results.flatMap(eventsJson), logs: [...tested.logs] }
    })
  }

  /**
   * Runs the stored tests of a transformation.
   *
   * @param written `versionId`, or `code` and `language`; by default the newest version.
   * @returns `{"pass": …, "results": […]}`
   */
  runStored(id: string, written: JsonObject, gone: AbortSignal): Promise<JsonObject> {
    return this.#inBounds(gone, async (limit) => {
      const of = this.#options.transformations.get(id)
      refuseOtherMembers(written, [])
      const code = await codeToTest(written, of, this.#sources())
      const results: JsonObject[] = []
      for (const test of of.tests) {
        const { results: events } = await this.#runOne(code, { events: test.input, metadata: this.#metadata() }, limit)
        results.push(resultJson(test, events))
      }
      return { pass: results.every(({ status }) => status === 'pass'), results }
    })
  }

  /** The result of metadata(event), without the messageId. */
  #metadata(given: JsonObject = {}): JsonObject {
    return { workspaceId: this.#options.workspace.id, ...given }
  }

  #sources(): CodeSources {
    const { workspace, store, transformations, checks } = this.#options
    return { snapshot: workspace.state.snapshot, store, history: transformations.history, checks }
  }

  async #inBounds<T>(gone: AbortSignal, work: (limit: Limit) => Promise<T>): Promise<T> {
    if (this.#running >= MAX_AT_ONCE) throw unavailable()
    const { clock } = this.#options.workspace
    const late = new AbortController()
    const timer = clock.setTimer(() => late.abort(), MAX_MS)
    this.#running++
    try {
      return await work({ deadline: clock.monotonic() + MAX_MS, signal: AbortSignal.any([gone, late.signal]) })
    } finally {
      timer.cancel()
      this.#running--
    }
  }

  /**
   * Runs all events at once; after a sandbox fault one by one, so that only the faulty event fails, as in live traffic.
   */
  async #runOne({ code, entry }: CodeToTest, { events, metadata }: Input, limit: Limit): Promise<Tested> {
    const together = await this.#attempt(code, { events, metadata }, limit)
    if (!together.isTroubled || entry !== 'transformEvent' || events.length === 1) return together
    const apart: Tested[] = []
    for (const event of events) apart.push(await this.#attempt(code, { events: [event], metadata }, limit))
    return { results: apart.flatMap(({ results }) => results), logs: apart.flatMap(({ logs }) => logs) }
  }

  async #attempt(
    code: CodeRun['steps'][number],
    { events, metadata }: Input,
    { deadline, signal }: Limit,
  ): Promise<Tested & { readonly isTroubled: boolean }> {
    const { runtime, workspace, credentials, maskingOf } = this.#options
    const wallMs = Math.floor(deadline - workspace.clock.monotonic())
    if (wallMs < 1) return { results: events.map(() => ({ error: TIMED_OUT })), logs: [], isTroubled: true }
    const { results, logs, usedCredentials, trouble } = await runtime.run({
      key: 'test',
      steps: [code],
      events: events.map((event) => ({ event, metadata })),
      mode: 'test',
      credentials: credentials.values(),
      captureLogs: true,
      wallMs,
      signal,
    })
    const masking = maskingOf(usedCredentials)
    return { results: results.map((each) => masked(each, masking)), logs, isTroubled: trouble !== undefined }
  }
}

/** When the whole request ends: on the monotonic clock, and as a signal that also says that the caller has gone. */
interface Limit {
  readonly deadline: number
  readonly signal: AbortSignal
}

interface Input {
  readonly events: readonly JsonObject[]
  readonly metadata: JsonObject
}

interface Tested {
  readonly results: readonly EventRun[]
  readonly logs: readonly string[]
}

function masked(run: EventRun, masking: Mask): EventRun {
  if ('events' in run) return { events: run.events.map((event) => masking.value(event) as JsonObject) }
  return 'error' in run ? { error: masking.text(run.error) } : { dropped: true }
}

/** One element for each output, error or drop. */
function eventsJson(run: EventRun, input: number): JsonObject[] {
  if ('events' in run) return run.events.map((event) => ({ input, event }))
  return 'error' in run ? [{ input, error: run.error }] : [{ input, dropped: true }]
}

function resultJson({ id, name, expectedOutput }: StoredTest, runs: readonly EventRun[]): JsonObject {
  const actualOutput = runs.flatMap((run) => ('events' in run ? run.events : []))
  const errors = runs.flatMap((run) => ('error' in run ? [run.error] : []))
  // The order of members does not matter.
  const isAsExpected = isDeepStrictEqual(actualOutput, expectedOutput)
  const status = errors.length > 0 ? 'error' : isAsExpected ? 'pass' : 'fail'
  return { id, name, status, actualOutput, errors }
}
