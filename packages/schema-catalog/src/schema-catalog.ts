import { existsSync } from 'node:fs'
import { type Clock, type Logger, ThreadCalls } from '@millrace/std'
import { type CatalogLimits, YOUNG_MB } from './limits.ts'
import type { CutCounts } from './observe/cut.ts'
import type { CatalogSource } from './observe/model.ts'
import { countedPlaces } from './store/counted-places.ts'
import {
  type CatalogCalls,
  type CatalogNotice,
  type CatalogThreadData,
  CatalogUnavailableError,
} from './thread/catalog-calls.ts'
import type { CatalogStream } from './thread/catalog-log.ts'
import { SharedPlaces } from './thread/shared-places.ts'

const STREAMS: readonly CatalogStream[] = ['live', 'backfill']

/** What the catalog reads of the log on this side. */
export interface FollowedLog {
  readonly partitions: number
  /** Where a partition ends, as far as this process knows. */
  end(partition: number): number
  onCommit(listener: () => void): () => void
  read(
    partition: number,
    stream: CatalogStream,
    from: number,
    maxBytes: number,
  ): Promise<{ readonly records: readonly { readonly header: { readonly acceptedAt: number } }[] }>
  tally(
    partition: number,
    stream: CatalogStream,
    range: { readonly from: number; readonly to: number },
  ): Promise<ReadonlyMap<string, { readonly events: number }>>
}

export interface SchemaCatalogOptions {
  readonly file: string
  readonly limits: CatalogLimits
  readonly clock: Clock
  readonly logger: Logger
  /** Of what calls `serveCatalog`: the module, and what it is given besides. */
  readonly thread: { readonly file: URL; readonly data: object }
  /** The thread that counts ended: nothing is counted or answered any more. */
  readonly onFault?: (error: Error) => void
}

/** How far behind the log the catalog is, and what it had to cut. */
export interface CatalogStatus {
  readonly lagEvents: number
  readonly lagSeconds: number
  readonly positions: readonly string[]
  readonly sources: readonly { readonly writeKey: string; readonly models: number; readonly cut: CutCounts }[]
}

/**
 * The catalog as the rest of the product sees it: it follows the log by itself, in a thread of its own, and answers
 * questions. Nobody waits for it.
 *
 * @see contracts/schema-catalog.md
 */
export class SchemaCatalog {
  readonly #options: SchemaCatalogOptions
  /** Started when there is something to count, to answer or to remove. */
  #thread: ThreadCalls<CatalogCalls, CatalogNotice> | undefined
  readonly #places: SharedPlaces
  readonly #clock: Clock
  #log: FollowedLog | undefined
  #sources: readonly CatalogSource[] = []
  #stopListening: () => void = () => {}
  #trouble: string | undefined
  #isClosed = false

  /**
   * Looks how far the last run came. A damaged database is no reason to fail: it is `trouble()` once it is used.
   *
   * @throws Error with the code NEWER_SCHEMA for a database of a later version; nothing is changed then.
   */
  constructor(options: SchemaCatalogOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#places = new SharedPlaces()
    const counted = countedPlaces(options.file)
    for (const stream of STREAMS) this.#places.setCounted(stream, counted[stream])
    this.#places.onDisk = Math.min(counted.live, counted.backfill)
  }

  /** Up to where events are counted, on disk: the log may drop what lies before, and gives no offset before that again. */
  neededFrom(): number {
    return this.#places.onDisk
  }

  /** Begins to follow the log, where the last run stopped. @param log its partitions count their offsets together. */
  follow(log: FollowedLog, sources: readonly CatalogSource[]): void {
    this.#log = log
    this.#sources = sources
    this.#places.end = endOf(log)
    this.#stopListening = log.onCommit(() => {
      this.#places.end = endOf(log)
      if (!this.#places.wake()) return
      if (this.#thread === undefined) this.#start()
      else this.#thread.call('wake', undefined).catch(() => {})
    })
    if (this.#behind().length > 0) this.#start()
  }

  /** Tells the catalog of all sources that there are; questions asked after this see nothing that is not to be kept. */
  async configure(sources: readonly CatalogSource[]): Promise<void> {
    this.#sources = sources
    // Where nothing was ever counted there is nothing to remove either.
    if (this.#thread !== undefined) await this.#thread.call('configure', sources)
    else if (!this.#isUntouched) this.#start()
  }

  /** Why nothing is observed at the moment; undefined when all is well. */
  trouble(): string | undefined {
    return this.#trouble
  }

  /** @throws CatalogUnavailableError */
  async ask<Name extends CatalogQuestion>(
    name: Name,
    argument: Parameters<CatalogCalls[Name]>[0],
  ): Promise<ReturnType<CatalogCalls[Name]>> {
    try {
      const asked = this.#started().call<Name>(name, argument) as Promise<unknown>
      return (await asked) as ReturnType<CatalogCalls[Name]>
    } catch (error) {
      throw new CatalogUnavailableError((error as Error).message, { cause: error })
    }
  }

  /** @throws CatalogUnavailableError */
  async status(): Promise<CatalogStatus> {
    // The dashboard asks again and again: a product that never counted anything need not start a thread for it.
    const sources = this.#isUntouched ? [] : await this.ask('status', undefined)
    const position = Math.min(...STREAMS.map((stream) => this.#places.counted(stream)))
    return {
      lagEvents: await this.#lagEvents(),
      lagSeconds: await this.lagSeconds(),
      positions: Array.from({ length: this.#log?.partitions ?? 1 }, (_, partition) => `${partition}-${position}`),
      sources,
    }
  }

  /** Age of the oldest event that is not counted yet; 0 when all are. */
  async lagSeconds(): Promise<number> {
    const oldest: number[] = []
    for (const { partition, stream, from } of this.#behind()) {
      const { records } = await this.#log!.read(partition, stream, from, 1)
      if (records.length > 0) oldest.push(records[0]!.header.acceptedAt)
    }
    return Math.max(0, this.#clock.now() - Math.min(Number.POSITIVE_INFINITY, ...oldest)) / 1_000
  }

  /** Writes what is counted, synced: a copy of the database made after this has all of it. */
  async commit(): Promise<void> {
    await this.#started().call('commit', undefined)
  }

  /** Begins to count the retained log anew; goes on after this has returned. @throws CatalogUnavailableError */
  async rebuild(): Promise<void> {
    try {
      await this.#started().call('rebuild', undefined)
      this.#trouble = undefined
    } catch (error) {
      throw new CatalogUnavailableError((error as Error).message, { cause: error })
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stopListening()
    await this.#thread?.call('close', undefined).catch(() => {})
    await this.#thread?.stop()
  }

  /** Whether nothing was ever counted. */
  get #isUntouched(): boolean {
    return this.#thread === undefined && !existsSync(this.#options.file)
  }

  #started(): ThreadCalls<CatalogCalls, CatalogNotice> {
    return this.#thread ?? this.#start()
  }

  #start(): ThreadCalls<CatalogCalls, CatalogNotice> {
    const { file, limits, logger, thread } = this.#options
    const data: CatalogThreadData = { file, limits, shared: this.#places.memory }
    const calls = new ThreadCalls<CatalogCalls, CatalogNotice>({
      file: thread.file,
      name: 'catalog',
      data: { ...thread.data, ...data },
      youngMemoryMb: YOUNG_MB,
      onNotice: (notice) => this.#note(notice, logger),
      onEnd: (error) => {
        this.#trouble = error.message
        this.#options.onFault?.(error)
      },
    })
    this.#thread = calls
    // Answered in this order, and before whatever is asked later.
    calls.call('open', undefined).catch((error: Error) => this.#note({ kind: 'trouble', cause: error.message }, logger))
    calls.call('configure', this.#sources).catch(() => {})
    calls.call('follow', undefined).catch(() => {})
    return calls
  }

  async #lagEvents(): Promise<number> {
    let events = 0
    for (const { partition, stream, from, to } of this.#behind()) {
      const tally = await this.#log!.tally(partition, stream, { from, to })
      for (const each of tally.values()) events += each.events
    }
    return events
  }

  /** The ranges that are not counted yet. */
  #behind(): { partition: number; stream: CatalogStream; from: number; to: number }[] {
    const ends = this.#log === undefined ? [] : endsOf(this.#log)
    return ends.flatMap((to, partition) =>
      STREAMS.map((stream) => ({ partition, stream, from: this.#places.counted(stream), to })).filter(
        ({ from }) => from < to,
      ),
    )
  }

  #note(notice: CatalogNotice, logger: Logger): void {
    switch (notice.kind) {
      case 'cut':
        logger.info({ sourceId: notice.sourceId, eventId: notice.eventId }, 'the catalog cut data of a model')
        break
      case 'unreadable':
        logger.error({ offset: notice.offset, cause: notice.cause }, 'the catalog cannot read a record')
        break
      case 'trouble':
        this.#trouble = notice.cause
        if (notice.cause !== undefined) logger.error({ cause: notice.cause }, 'the catalog cannot be written')
        break
    }
  }
}

function endsOf(log: FollowedLog): number[] {
  return Array.from({ length: log.partitions }, (_, partition) => log.end(partition))
}

function endOf(log: FollowedLog): number {
  return Math.max(...endsOf(log))
}

/** What others ask of the catalog; a purge is a change. */
export type CatalogQuestion =
  | 'models'
  | 'versions'
  | 'jsonSchemas'
  | 'modelMetadata'
  | 'versionMetadata'
  | 'keyCounts'
  | 'missingKeys'
  | 'status'
  | 'purge'
