import type { DestinationModule, Override, RequestObject } from '@millrace/destinations'
import { type MadeRequests, Stages, sendOnce } from '@millrace/pipeline'
import type { JsonObject, StoredEvent } from '@millrace/protocol'
import type { RunResult, StepResult } from '@millrace/transformations'
import { sendRemote } from './runs/remote-sending.ts'
import type { TestRun } from './runs/test-run.ts'
import { shownAnswer } from './shown/shown-answer.ts'
import type { TestedDestination } from './test-api-options.ts'
import { STAGE_TEXTS } from './texts.ts'

/** Of all answers that one destination's result holds; what is beyond is cut. */
const MAX_ANSWER_CHARACTERS = 16 * 1024 * 1024

/** What the stages reported that were asked for, with every secret still in it. @see contracts/test-api.md §6 */
export interface StageReport {
  user?: JsonObject | { readonly error: string }
  dest?: readonly RequestObject[] | { readonly error: string }
  response?: JsonObject[] | { readonly error: string }
  statuses?: number[]
}

/** One message on its way through the stages of one destination: the very same that live traffic passes. */
export class DestinationTest {
  readonly report: StageReport = {}
  /** How long the stages took that ran. */
  readonly timings: {
    userTransformMs?: number
    destTransformMs?: number
    readonly requests: { readonly ms: number }[]
  } = {
    requests: [],
  }
  /** What the user transformation made of the message; empty if it made nothing, or there is none. */
  userEvents: readonly JsonObject[] = []
  userSteps: readonly StepResult[] = []
  logs: readonly string[] = []
  /** Values of the credentials that user code has read, and the access tokens that sending has used. */
  usedCredentials: readonly string[] = []
  /** What the destination's code has made of secrets. */
  readonly derivedSecrets: string[] = []
  /** What the destination transformation made of the events. */
  made: readonly MadeRequests[] = []
  /** What the destination's code threw although its requests were answered. */
  sendingFaults: readonly string[] = []
  readonly #run: TestRun
  readonly #stages: Stages

  constructor(run: TestRun, destination: TestedDestination, module: DestinationModule, { config }: Override) {
    const { clock, version } = run.options
    this.#run = run
    this.#stages = new Stages(
      { ...destination, config, savedConfig: destination.config, module },
      {
        userAgent: `Millrace-Test/${version}`,
        isUserAgentAdded: true,
        nowSeconds: () => Math.floor(clock.now() / 1000),
      },
    )
  }

  /** Runs the stages that are asked for; fills `report` and everything beside it. */
  async run(): Promise<void> {
    const { flags, message } = this.#run
    const events = flags.user_transform ? await this.#userTransform() : [message]
    if (events === undefined) {
      if (flags.dest_transform) this.report.dest = { error: STAGE_TEXTS.abortedByUserTransformation }
      if (flags.send_to_destination) this.report.response = { error: STAGE_TEXTS.abortedByDestTransformation }
      return
    }
    // Without its flag it is part of the delivery, and reports nothing of its own. [D211]
    if (!flags.dest_transform && !flags.send_to_destination) return
    const transformed = await this.#destTransform(events)
    if (transformed !== undefined && flags.send_to_destination) await this.#send(transformed)
  }

  /** @returns the events for the next stage, or undefined if this one failed. */
  async #userTransform(): Promise<readonly JsonObject[] | undefined> {
    const { message } = this.#run
    if (!this.#stages.hasUserTransformation) {
      this.report.user = { error: STAGE_TEXTS.noTransformation }
      return [message]
    }
    const since = this.#now()
    const ran = await this.#runUserCode()
    this.timings.userTransformMs = this.#now() - since
    const events = ran === 'late' ? STAGE_TEXTS.timedOut : this.#outputOf(ran)
    this.report.user = typeof events === 'string' ? { error: events } : events[0]!
    return typeof events === 'string' ? undefined : events
  }

  #runUserCode(): Promise<RunResult | 'late'> {
    const { options, message, source, limit, asked } = this.#run
    const wallMs = Math.floor(limit.leftMs)
    if (wallMs < 1 || limit.signal.aborted) return Promise.resolve('late')
    const metadata = this.#stages.userMetadata(source && { ...source, class: options.sourceClass(source.type) })
    const work = this.#stages.userTransform(options.userCode, {
      events: [{ event: message, metadata }],
      mode: 'test',
      credentials: options.credentials(),
      captureLogs: asked.include.has('logs'),
      wallMs,
      signal: limit.signal,
    })
    return limit.within(work)
  }

  /** @returns the events, one at least, or the text that says why there are none. */
  #outputOf({ results, logs, usedCredentials }: RunResult): readonly JsonObject[] | string {
    const result = results[0]!
    this.usedCredentials = usedCredentials
    this.logs = logs
    this.userSteps = result.steps ?? []
    if ('error' in result) return result.error
    if ('dropped' in result) return STAGE_TEXTS.dropped
    this.userEvents = result.events
    return result.events
  }

  /** @returns what is to be sent, or undefined if the transformation of any event failed. */
  async #destTransform(events: readonly JsonObject[]): Promise<readonly MadeRequests[] | undefined> {
    const { flags, source } = this.#run
    const since = this.#now()
    const transformed: MadeRequests[] = []
    for (const event of events) {
      const result =
        this.#stages.refusal([event as StoredEvent]) ?? (await this.#stages.destTransform(event, source?.id ?? ''))
      if ('error' in result) {
        if (flags.dest_transform) this.report.dest = result
        if (flags.send_to_destination) {
          this.report.response = flags.dest_transform ? { error: STAGE_TEXTS.abortedByDestTransformation } : result
        }
        return undefined
      }
      this.derivedSecrets.push(...result.derivedSecrets)
      transformed.push(result)
    }
    this.timings.destTransformMs = this.#now() - since
    this.made = transformed
    if (flags.dest_transform) this.report.dest = transformed.flatMap(({ objects }) => objects)
    return transformed
  }

  async #send(transformed: readonly MadeRequests[]): Promise<void> {
    if (this.#stages.isRemote) return this.#sendRemote(transformed)
    const { client, limit } = this.#run
    const requests = transformed.flatMap(({ ready }) => ready.requests)
    const response: JsonObject[] = []
    const statuses: number[] = []
    let charactersLeft = MAX_ANSWER_CHARACTERS
    let since = this.#now()
    for await (const answered of sendOnce(requests, client, limit.signal)) {
      this.timings.requests.push({ ms: this.#now() - since })
      since = this.#now()
      response.push(shownAnswer(answered, charactersLeft))
      statuses.push(answered.status)
      if (answered.kind === 'answer') charactersLeft -= Math.min(charactersLeft, answered.text.length)
    }
    this.usedCredentials = [...this.usedCredentials, ...transformed.flatMap(({ ready }) => ready.sentSecrets)]
    this.report.response = response
    this.report.statuses = statuses
  }

  /** The code runs once more, with real answers: what is shown is what was sent. */
  async #sendRemote(transformed: readonly MadeRequests[]): Promise<void> {
    const { client, limit, flags, options } = this.#run
    const sent = await sendRemote(transformed, client, limit.signal, options.clock)
    this.derivedSecrets.push(...sent.derivedSecrets)
    this.sendingFaults = sent.faults
    this.timings.requests.push(...sent.durations.map((ms) => ({ ms })))
    if (sent.answers.length === 0 && sent.faults.length > 0) {
      this.report.response = { error: sent.faults.join(' ') }
      return
    }
    let charactersLeft = MAX_ANSWER_CHARACTERS
    if (flags.dest_transform) this.report.dest = sent.objects
    this.report.response = sent.answers.map((answered) => {
      const shown = shownAnswer(answered, charactersLeft)
      if (answered.kind === 'answer') charactersLeft -= Math.min(charactersLeft, answered.text.length)
      return shown
    })
    this.report.statuses = sent.answers.map(({ status }) => status)
  }

  #now(): number {
    return this.#run.options.clock.monotonic()
  }
}
