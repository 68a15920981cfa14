import type { LaneEvent, Transform, Transformed } from '@millrace/delivery'
import { formatPosition, type JsonObject, type StoredEvent } from '@millrace/protocol'
import type { Clock } from '@millrace/std'
import type { EventResult, RunResult, RunTrouble, StepFlow } from '@millrace/transformations'
import type { ConfiguredDestination } from '../following/configuration.ts'
import { Patience } from './patience.ts'
import type { Stages, UserCode } from './stages.ts'
import type { MetadataSource } from './user-metadata.ts'

/** After this many sandbox faults an event becomes a dead letter. */
const MAX_FAULTS = 3
/** Wait after a run that could not start, or could not finish on an overloaded machine. */
const AGAIN_MS = 1_000

/** A line logged by user code. */
export interface LoggedLine {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly destinationId: string
  /** Null if the run had several events. */
  readonly messageId: string | null
  readonly line: string
}

/** Runs user code, and provides its inputs. */
export interface LiveUserCodeAccess extends UserCode {
  /** Returns the same map until a credential changes. */
  readonly credentials: () => ReadonlyMap<string, string>
  /** Whether to keep the lines that a transformation logs. */
  readonly capturesLogs: (transformationId: string) => boolean
  readonly onLog: (transformationId: string, line: LoggedLine) => void
}

interface LiveRun {
  /** Empty after a run that an overloaded machine did not let finish: it is repeated. */
  readonly results: Transformed[]
  readonly trouble: RunTrouble | undefined
  readonly durationMs: number
}

export interface LiveUserCodeOptions {
  readonly destination: Pick<ConfiguredDestination, 'id' | 'delivery' | 'transformations'>
  readonly stages: Pick<Stages, 'userTransform' | 'userMetadata'>
  readonly userCode: LiveUserCodeAccess
  readonly clock: Clock
  /** Returns the same object until the source changes; undefined for a removed source. */
  readonly sourceOf: (sourceId: string) => MetadataSource | undefined
  readonly onError: (transformationId: string) => void
  /** Called with the events in and out of a transformation in one run, and the duration of the whole run. */
  readonly onFlow: (transformationId: string, step: StepFlow, durationMs: number) => void
  readonly logger: { warn(fields: object, text: string): void; error(fields: object, text: string): void }
}

/**
 * Runs the user code of one destination for live traffic, under one configuration.
 *
 * After a sandbox fault (too slow, too much memory, lost) the batch runs again event by event, so that only the event that
 * causes faults becomes a dead letter, after three of them. A run that an overloaded machine did not let finish is no fault.
 *
 * @see contracts/transformations.md §8 [D424, D425, D433, D436]
 */
export class LiveUserCode {
  readonly #options: LiveUserCodeOptions
  /** Metadata for user code, by source. */
  readonly #metadata = new WeakMap<MetadataSource, JsonObject>()
  readonly #withoutSource: JsonObject

  constructor(options: LiveUserCodeOptions) {
    this.#options = options
    this.#withoutSource = options.stages.userMetadata(undefined)
  }

  readonly transform: Transform = async (events) => {
    if (events.length > 1) {
      const { results, trouble } = await this.#run(events, false)
      if (trouble === undefined) return results
    }
    const alone: Transformed[] = []
    for (const event of events) alone.push(await this.#runAlone(event))
    return alone
  }

  async #runAlone(event: LaneEvent): Promise<Transformed> {
    const patience = new Patience(this.#options.clock)
    for (let faults = 1; ; ) {
      const { results, trouble, durationMs } = await this.#run([event], patience.isOver)
      if (trouble === undefined) return results[0]!
      if (trouble.starved !== undefined) {
        patience.use(trouble.starved)
        await this.#pause()
        continue
      }
      // The code has exceeded its limit without the waits for a processor. So the next runs get no extension.
      if (trouble.kind === 'timed out') patience.end()
      if (faults++ < MAX_FAULTS) continue
      const { transformationId } = this.#options.destination.transformations[0]!
      this.#options.onFlow(transformationId, { in: 1, out: 0, errors: 1 }, durationMs)
      return results[0]!
    }
  }

  /** @param countsWaits then no run ends as starved. */
  async #run(events: readonly LaneEvent[], countsWaits: boolean): Promise<LiveRun> {
    const { destination, stages, userCode, logger, clock, onFlow } = this.#options
    const { id, transformations } = destination
    for (;;) {
      const startedAt = clock.monotonic()
      try {
        const result = await stages.userTransform(userCode, {
          events: events.map((event) => this.#input(event)),
          mode: 'live',
          credentials: userCode.credentials(),
          ...(countsWaits ? { countsWaits } : {}),
          captureLogs: transformations.some(({ transformationId }) => userCode.capturesLogs(transformationId)),
        })
        const { trouble } = result
        const durationMs = clock.monotonic() - startedAt
        if (trouble?.starved !== undefined) return { results: [], trouble, durationMs }
        this.#keepLogs(events, result)
        for (const [i, step] of result.flow.entries()) onFlow(transformations[i]!.transformationId, step, durationMs)
        if (trouble !== undefined) logger.warn({ destinationId: id, trouble }, 'user code failed with a fault')
        const results = events.map((event, i) => this.#judge(event, result.results[i]!, result.usedCredentials))
        return { results, trouble, durationMs }
      } catch (error) {
        logger.error({ destinationId: id, cause: (error as Error).message }, 'user code cannot be run')
        await this.#pause()
      }
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#options.clock.setTimer(resolve, AGAIN_MS))
  }

  #input(event: LaneEvent) {
    return { event: event.payload!, metadata: this.#metadataOf(event.sourceId), jobId: formatPosition(event) }
  }

  #metadataOf(sourceId: string): JsonObject {
    const source = this.#options.sourceOf(sourceId)
    if (source === undefined) return this.#withoutSource
    let metadata = this.#metadata.get(source)
    if (metadata === undefined) {
      metadata = this.#options.stages.userMetadata(source)
      this.#metadata.set(source, metadata)
    }
    return metadata
  }

  #judge(event: LaneEvent, result: EventResult, secrets: readonly string[]): Transformed {
    if ('dropped' in result) return { kind: 'dropped' }
    if ('events' in result) {
      // User code may have removed any member; destinations must tolerate that.
      return { kind: 'events', events: result.events as StoredEvent[], sizeBytes: result.sizeBytes, secrets }
    }
    const { destination, onError } = this.#options
    onError(result.transformationId)
    if (destination.delivery.onTransformationError === 'pass_through') {
      return { kind: 'events', events: [event.payload!], sizeBytes: 0, secrets: [] }
    }
    return { kind: 'failed', error: result.error }
  }

  #keepLogs(events: readonly LaneEvent[], { logs, loggedBy, loggedFor }: RunResult): void {
    const { userCode, destination, clock } = this.#options
    for (const [i, line] of logs.entries()) {
      const { transformationId } = destination.transformations[loggedBy[i]!]!
      const event = loggedFor[i] === null ? undefined : events[loggedFor[i]!]
      const messageId = event?.payload?.messageId ?? null
      if (userCode.capturesLogs(transformationId))
        userCode.onLog(transformationId, { at: clock.now(), destinationId: destination.id, messageId, line })
    }
  }
}
