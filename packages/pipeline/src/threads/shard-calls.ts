import type { SharedTokens } from '@millrace/delivery'
import type { Offset, OffsetRange } from '@millrace/log'
import type { RecordHeader, StoredEvent } from '@millrace/protocol'
import type { PackedRun, RunResult } from '@millrace/transformations'
import type { Delivery } from '../delivery/delivered-listeners.ts'
import type { DeliveryCounts } from '../delivery/delivery-metrics.ts'
import type { LiveResult } from '../events/live-view.ts'
import type { Configuration, ConfigurationChange } from '../following/configuration.ts'
import type { Removed } from '../following/removals.ts'
import type { Shard, ShardActivity } from '../host/shard.ts'
import type { LoggedLine } from '../stages/live-user-code.ts'

/** What of a delivery thread the main thread shows to people now. */
export interface Watched {
  /** The live view has clients. */
  readonly live: boolean
  readonly delivered: boolean
  /** Transformations whose logged lines are kept. */
  readonly capturing: readonly string[]
}

/** By destination: the memory of its limits, which all threads share. */
export type SharedLimits = ReadonlyMap<string, SharedArrayBuffer>

export interface ShardStart {
  /** Of the thread, from 1 on. */
  readonly number: number
  readonly limits: SharedLimits
  readonly partitions: readonly number[]
  readonly configuration: Configuration
  readonly watched: Watched
}

/** What statistics still ask for after a thread has stopped. */
export interface LastFigures {
  readonly counts: DeliveryCounts
  readonly activity: ReadonlyMap<string, ShardActivity>
}

type Forwarded = Exclude<keyof Shard, 'partitions' | 'configure' | 'stop'>

/** Calls to a delivery thread: those of its shard, and what the host tells it. */
export type ShardCalls = { [Name in Forwarded]: (request: Parameters<Shard[Name]>[0]) => ReturnType<Shard[Name]> } & {
  start(start: ShardStart): Promise<void>
  configure(change: ConfigurationChange & { readonly limits: SharedLimits }): Promise<Removed[]>
  watch(watched: Watched): void
  noteDamage(damage: { readonly partition: number; readonly range: OffsetRange }): void
  /** Stops delivering. @returns the last figures, when the last outcomes are written. */
  stop(nothing: undefined): Promise<LastFigures>
  /** The deadline of `stop`: calls in flight are aborted. */
  abortCalls(nothing: undefined): void
}

/** Calls from a delivery thread to the main thread. */
export type HostCalls = {
  /**
   * Runs user code in the sandboxes of the process; credentials are added there. The events cross as the texts that the sandbox
   * gets, so that the main thread neither clones nor writes them.
   */
  runCode(run: Omit<PackedRun, 'credentials'>): Promise<RunResult>
  /** The access tokens of the process. */
  takeToken(request: Parameters<SharedTokens['take']>[0]): ReturnType<SharedTokens['take']>
  putToken(result: Parameters<SharedTokens['put']>[0]): void
}

/** What happened to one event, for the live view. */
export type LiveNotice =
  | { readonly kind: 'accepted'; readonly header: RecordHeader; readonly events: readonly StoredEvent[] }
  | {
      readonly kind: 'outcome'
      readonly event: StoredEvent
      readonly sourceId: string
      readonly result: LiveResult
    }

/** What a delivery thread says unasked. */
export type ShardNotice =
  | { readonly kind: 'live'; readonly notices: readonly LiveNotice[]; readonly skipped: number }
  | { readonly kind: 'delivered'; readonly delivery: Delivery }
  | { readonly kind: 'replay ended'; readonly jobId: string; readonly destinationId: string }
  | { readonly kind: 'logged line'; readonly transformationId: string; readonly line: LoggedLine }
  | { readonly kind: 'damage'; readonly offset: Offset }
  | {
      readonly kind: 'log'
      readonly level: 'info' | 'warn' | 'error'
      readonly fields: object
      readonly text: string
    }
  | { readonly kind: 'fault'; readonly error: Error }
