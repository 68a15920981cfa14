import type { Transferable } from 'node:worker_threads'
import type { DeadLetterRow, JourneyWrite, Scope } from '@millrace/delivery'
import type { Offset, OffsetRange } from '@millrace/log'
import { type Logger, ThreadCalls } from '@millrace/std'
import type { DeliveredListeners } from '../delivery/delivered-listeners.ts'
import type { LiveView } from '../events/live-view.ts'
import type { FoundEvent } from '../events/search-calls.ts'
import type { TraceAsked } from '../events/traces.ts'
import type { ConfigurationChange } from '../following/configuration.ts'
import type { ReplayedTake, Shard } from '../host/shard.ts'
import type { ThreadLoad } from '../host/thread-meter.ts'
import type { LoggedLine } from '../stages/live-user-code.ts'
import { plainConfiguration } from './plain-configuration.ts'
import type { LastFigures, ShardCalls, ShardNotice, ShardStart, SharedLimits, Watched } from './shard-calls.ts'

export interface RemoteShardOptions {
  /** The module that calls `serveShard`, and its data. */
  readonly thread: { readonly file: URL; readonly data: object; readonly transfer: readonly Transferable[] }
  /** From 1 on. */
  readonly number: number
  /** The shared memory that holds the limits of these destinations. */
  readonly limitsOf: (destinationIds: Iterable<string>) => SharedLimits
  readonly live: Pick<LiveView, 'accepted' | 'outcome' | 'skipped'>
  readonly delivered: Pick<DeliveredListeners, 'tell'>
  readonly onReplayEnded: (jobId: string, destinationId: string) => void
  readonly onLoggedLine: (transformationId: string, line: LoggedLine) => void
  /** The thread could not read the log at an offset. */
  readonly onDamage: (offset: Offset) => void
  /** The thread ended unexpectedly: its events are no longer delivered. */
  readonly onFault: (error: Error) => void
  readonly logger: Logger
}

/** A shard that runs in a thread of its own; the main thread calls it. */
export class RemoteShard implements Shard {
  readonly partitions: readonly number[]
  readonly number: number
  readonly #limitsOf: RemoteShardOptions['limitsOf']
  readonly #thread: ThreadCalls<ShardCalls, ShardNotice>
  #lastFigures: LastFigures | undefined

  /** Starts the thread, which resumes where the last owner of the partitions stopped. */
  static async start(start: Omit<ShardStart, 'number' | 'limits'>, options: RemoteShardOptions): Promise<RemoteShard> {
    const shard = new RemoteShard(start.partitions, options)
    const { number, limitsOf } = options
    try {
      const configuration = plainConfiguration(start.configuration)
      const limits = limitsOf(configuration.destinations.keys())
      await shard.#thread.call('start', { ...start, configuration, number, limits })
      return shard
    } catch (error) {
      await shard.#thread.stop()
      throw error
    }
  }

  private constructor(partitions: readonly number[], options: RemoteShardOptions) {
    const { thread, number, onFault } = options
    this.partitions = partitions
    this.number = number
    this.#limitsOf = options.limitsOf
    this.#thread = new ThreadCalls<ShardCalls, ShardNotice>({
      file: thread.file,
      name: `delivery-${number}`,
      data: thread.data,
      transfer: thread.transfer,
      onNotice: (notice) => heed(notice, options),
      onEnd: onFault,
    })
  }

  resumed(): Promise<void> {
    return this.#thread.call('resumed', undefined)
  }

  configure({ configuration, ends }: ConfigurationChange) {
    const limits = this.#limitsOf(configuration.destinations.keys())
    return this.#thread.call('configure', { configuration: plainConfiguration(configuration), ends, limits })
  }

  waiting(scope: Scope): Promise<number> {
    return this.#thread.call('waiting', scope)
  }

  trace(asked: TraceAsked): Promise<object[]> {
    return this.#thread.call('trace', asked)
  }

  outcomesNow(events: readonly FoundEvent[]) {
    return this.#thread.call('outcomesNow', events)
  }

  renderedRequest(letter: DeadLetterRow) {
    return this.#thread.call('renderedRequest', letter)
  }

  states(destinationIds: readonly string[]) {
    return this.#thread.call('states', destinationIds)
  }

  async activity(destinationIds?: readonly string[]) {
    return this.#lastFigures?.activity ?? this.#thread.call('activity', destinationIds)
  }

  async counts() {
    return this.#lastFigures?.counts ?? this.#thread.call('counts', undefined)
  }

  needs(request: Parameters<Shard['needs']>[0]) {
    return this.#thread.call('needs', request)
  }

  keepUnfinished(range: OffsetRange & { readonly partition: number }): Promise<number> {
    return this.#thread.call('keepUnfinished', range)
  }

  pruneSpans(keptFrom: readonly number[]): Promise<void> {
    return this.#thread.call('pruneSpans', keptFrom)
  }

  waitingShares() {
    return this.#thread.call('waitingShares', undefined)
  }

  waitingBytes(): Promise<number> {
    return this.#thread.call('waitingBytes', undefined)
  }

  expireWaiting(request: Parameters<Shard['expireWaiting']>[0]): ReturnType<Shard['expireWaiting']> {
    return this.#thread.call('expireWaiting', request)
  }

  takeReplayed(take: ReplayedTake) {
    return this.#thread.call('takeReplayed', take)
  }

  abandonTakes(jobId: string): Promise<void> {
    return this.#thread.call('abandonTakes', jobId)
  }

  resumeReplayed(waits: readonly JourneyWrite[]): Promise<void> {
    return this.#thread.call('resumeReplayed', waits)
  }

  deliverLetters(letters: readonly DeadLetterRow[]): Promise<void> {
    return this.#thread.call('deliverLetters', letters)
  }

  withdrawReplayed(jobId: string): Promise<void> {
    return this.#thread.call('withdrawReplayed', jobId)
  }

  load(): Promise<ThreadLoad> {
    return this.#thread.call('load', undefined)
  }

  flush(): Promise<void> {
    return this.#thread.call('flush', undefined)
  }

  trouble(): Promise<string | undefined> {
    return this.#thread.call('trouble', undefined)
  }

  async stop(deadline: Promise<void>): Promise<void> {
    const stopped = this.#thread.call('stop', undefined)
    void deadline.then(() => this.#thread.call('abortCalls', undefined)).catch(() => {})
    try {
      this.#lastFigures = await stopped
    } finally {
      await this.#thread.stop()
    }
  }

  watch(watched: Watched): void {
    // If the thread has ended, `onFault` has reported it.
    this.#thread.call('watch', watched).catch(() => {})
  }

  noteDamage(partition: number, range: OffsetRange): void {
    this.#thread.call('noteDamage', { partition, range }).catch(() => {})
  }
}

function heed(notice: ShardNotice, options: RemoteShardOptions): void {
  const { live, delivered, logger } = options
  switch (notice.kind) {
    case 'live':
      for (const each of notice.notices) {
        if (each.kind === 'accepted') live.accepted(each.header, () => each.events)
        else live.outcome(each.event, each.sourceId, each.result)
      }
      if (notice.skipped > 0) live.skipped(notice.skipped)
      break
    case 'delivered':
      delivered.tell(notice.delivery)
      break
    case 'replay ended':
      options.onReplayEnded(notice.jobId, notice.destinationId)
      break
    case 'logged line':
      options.onLoggedLine(notice.transformationId, notice.line)
      break
    case 'damage':
      options.onDamage(notice.offset)
      break
    case 'log':
      logger[notice.level](notice.fields, notice.text)
      break
    case 'fault':
      options.onFault(notice.error)
      break
  }
}
