import type { LaneEvent, Transform, Transformed } from '@millrace/delivery'
import { formatPosition, type JsonObject, type StoredEvent } from '@millrace/protocol'
import type { Clock } from '@millrace/std'
import type { EventResult, RunResult, StepFlow } from '@millrace/transformations'
import type { ConfiguredDestination } from '../following/configuration.ts'
import type { Stages, UserCode } from './stages.ts'
import type { MetadataSource } from './user-metadata.ts'

/** Runs of one event that end in a fault of its sandbox; after these it is a dead letter. */
const MAX_FAULTS = 3
/** After a run that could not even begin. */
const AGAIN_MS = 1_000

/** A line that user code has logged. */
export interface LoggedLine {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly destinationId: string
  /** Null where the code of several events was under way. */
  readonly messageId: string | null
  readonly line: string
}

/** What runs user code, and what it may be given. */
export interface LiveUserCodeAccess extends UserCode {
  /** The same map as long as no credential changes. */
  readonly credentials: () => ReadonlyMap<string, string>
  /** Whether somebody wants the lines that a transformation logs. */
  readonly capturesLogs: (transformationId: string) => boolean
  readonly onLog: (transformationId: string, line: LoggedLine) => void
}

interface LiveRun {
  readonly results: Transformed[]
  readonly trouble: object | undefined
  readonly durationMs: number
}

export interface LiveUserCodeOptions {
  readonly destination: Pick<ConfiguredDestination, 'id' | 'delivery' | 'transformations'>
  readonly stages: Pick<Stages, 'userTransform' | 'userMetadata'>
  readonly userCode: LiveUserCodeAccess
  readonly clock: Clock
  /** The same object as long as nothing of the source changes; undefined for one that was removed. */
  readonly sourceOf: (sourceId: string) => MetadataSource | undefined
  readonly onError: (transformationId: string) => void
  /** What went through a transformation in one run, and how long all of the run took. */
  readonly onFlow: (transformationId: string, step: StepFlow, durationMs: number) => void
  readonly logger: { warn(fields: object, text: string): void; error(fields: object, text: string): void }
}

/**
 * User code of one destination under one configuration, as live traffic runs it.
 *
 * A fault of the sandbox (too slow, too much memory, lost) is nobody's answer: the batch is run again event by event, so
 * that only the event that causes it becomes a dead letter, after three faults of its own.
 *
 * @see contracts/transformations.md §8 [D424, D425, D433]
 */
export class LiveUserCode {
  readonly #options: LiveUserCodeOptions
  /** What user code is told of a source. */
  readonly #metadata = new WeakMap<MetadataSource, JsonObject>()
  readonly #withoutSource: JsonObject

  constructor(options: LiveUserCodeOptions) {
    this.#options = options
    this.#withoutSource = options.stages.userMetadata(undefined)
  }

  readonly transform: Transform = async (events) => {
    const { results, trouble } = await this.#run(events)
    if (trouble === undefined) return results
    const alone: Transformed[] = []
    for (const event of events) alone.push(await this.#runAlone(event, events.length === 1 ? 1 : 0))
    return alone
  }

  async #runAlone(event: LaneEvent, faults: number): Promise<Transformed> {
    for (let had = faults; ; had++) {
      const { results, trouble, durationMs } = await this.#run([event])
      if (trouble === undefined) return results[0]!
      if (had + 1 < MAX_FAULTS) continue
      const { transformationId } = this.#options.destination.transformations[0]!
      this.#options.onFlow(transformationId, { in: 1, out: 0, errors: 1 }, durationMs)
      return results[0]!
    }
  }

  async #run(events: readonly LaneEvent[]): Promise<LiveRun> {
    const { destination, stages, userCode, logger, clock, onFlow } = this.#options
    const { id, transformations } = destination
    for (;;) {
      const startedAt = clock.monotonic()
      try {
        const result = await stages.userTransform(userCode, {
          events: events.map((event) => this.#input(event)),
          mode: 'live',
          credentials: userCode.credentials(),
          captureLogs: transformations.some(({ transformationId }) => userCode.capturesLogs(transformationId)),
        })
        this.#keepLogs(events, result)
        const durationMs = clock.monotonic() - startedAt
        for (const [i, step] of result.flow.entries()) onFlow(transformations[i]!.transformationId, step, durationMs)
        const { trouble } = result
        if (trouble !== undefined) logger.warn({ destinationId: id, trouble }, 'user code failed with a fault')
        const results = events.map((event, i) => this.#judge(event, result.results[i]!, result.usedCredentials))
        return { results, trouble, durationMs }
      } catch (error) {
        logger.error({ destinationId: id, cause: (error as Error).message }, 'user code cannot be run')
        await new Promise<void>((resolve) => clock.setTimer(resolve, AGAIN_MS))
      }
    }
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
      // What was valid on acceptance may lack anything now; destinations bear that.
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
