import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { SqliteDeliveryStore } from '@millrace/delivery'
import { type DestinationModule, DestinationRegistry } from '@millrace/destinations'
import { type EventLog, type LogWriter, MemoryEventLog, type Offset, type Stream } from '@millrace/log'
import { hash53 } from '@millrace/protocol'
import { ManualClock, systemClock } from '@millrace/std'
import { DEFAULT_LIMITS, Sandboxes } from '@millrace/transformations'
import type { OnGap } from '../delivery/delivery-deps.ts'
import type { ConfiguredConnection, ConfiguredDestination, ConfiguredSource } from '../following/configuration.ts'
import { DeliveryHost } from '../host/delivery-host.ts'
import { localShard } from '../host/local-shard.ts'
import type { Pipeline } from '../pipeline.ts'
import type { LoggedLine } from '../stages/live-user-code.ts'
import { type ClientOptions, OpenWork } from './open-work.ts'
import { Sink } from './sink.ts'
import { type DestinationChange, destinationOf } from './test-destination.ts'
import { recordOf } from './test-events.ts'

export const START = Date.parse('2026-03-04T09:00:00.000Z')
export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export interface Setting {
  readonly log?: EventLog & LogWriter
  readonly clock?: ManualClock
  /** Ids of the sources. Default `s1`. */
  readonly sources?: readonly string[]
  /** By id; each is connected to every source. */
  readonly destinations?: Readonly<Record<string, DestinationChange>>
  readonly modules?: readonly DestinationModule[]
  readonly client?: ClientOptions
  readonly memoryBytes?: number
  readonly traces?: { keepMs: number; maxBytes: number }
  readonly logKeepMs?: number
  /** Default 0: no limit. */
  readonly backlogMaxBytes?: number
  /** Default 0: no limit. */
  readonly logMaxBytes?: number
  readonly random?: () => number
  /** The log has lost a range that a destination had not read. */
  readonly onGap?: OnGap
  /** Time limit of one synchronous run of user code, in real time. */
  readonly syncMs?: number
  /** Time limit of a batch in user code, in real time. */
  readonly wallMs?: number
}

/** The trace of an event at one destination. */
export interface TracedJourney {
  readonly destinationId: string
  readonly outcome: string
  readonly reason: string | null
  readonly transformationVersionIds: readonly string[]
  readonly configRevision: number | null
  readonly requests: readonly {
    readonly method?: string
    readonly endpoint?: string
    readonly rendered?: true
    readonly attempts: readonly { n: number; at: string; status: number; class: string; text: string }[]
  }[]
}

/** A file of the delivery store and the other parts of a process; the test disposes them. */
export class PipelineUnderTest implements AsyncDisposable {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'millrace-pipeline-'))
  readonly clock: ManualClock
  readonly log: EventLog & LogWriter
  readonly logged: { level: string; text: string; fields: object }[] = []
  /** Expired events, as reported to the audit log. */
  readonly told: { destinationId: string; count: number }[] = []
  readonly sources = new Map<string, ConfiguredSource>()
  readonly destinations = new Map<string, ConfiguredDestination>()
  readonly connections = new Map<string, ConfiguredConnection>()
  readonly credentials = new Map<string, string>()
  /** Lines that user code logs in these transformations. */
  readonly captured = new Map<string, LoggedLine[]>()
  delivery!: DeliveryHost<Pipeline>
  store!: SqliteDeliveryStore
  /** False while the store cannot write: settled then does not mean written. */
  writes = true
  readonly #setting: Setting
  readonly #modules = new Map<string, DestinationModule>()
  readonly #sinks: Sink[] = []
  readonly #work = new OpenWork()
  #file: string
  #generation = 0
  #revision = 1
  #userCode!: Sandboxes

  static async start(setting: Setting = {}): Promise<PipelineUnderTest> {
    const self = new PipelineUnderTest(setting)
    for (const module of [...(await DestinationRegistry.load()).all(), ...(setting.modules ?? [])]) {
      self.#modules.set(module.definition.name, module)
    }
    await self.#open()
    return self
  }

  /** A pipeline with one destination `d1` and its sink. */
  static async withSink(
    answer: Parameters<typeof Sink.start>[0] = 200,
    setting: Setting & { d1?: DestinationChange } = {},
  ): Promise<{ run: PipelineUnderTest; sink: Sink }> {
    const sink = await Sink.start(answer)
    const d1 = { ...setting.d1, config: { webhookUrl: sink.url, ...setting.d1?.config } }
    const run = await PipelineUnderTest.start({ ...setting, destinations: { d1, ...setting.destinations } })
    run.own(sink)
    return { run, sink }
  }

  private constructor(setting: Setting) {
    this.#setting = setting
    this.clock = setting.clock ?? new ManualClock(START)
    this.log = this.#work.watched(setting.log ?? new MemoryEventLog())
    this.#file = path.join(this.folder, 'delivery.db')
    for (const id of setting.sources ?? ['s1'])
      this.sources.set(id, { id, name: id, type: 'cloud', partition: hash53(id) % this.log.partitions })
    for (const [id, change] of Object.entries(setting.destinations ?? {})) {
      this.destinations.set(id, destinationOf(id, change))
      for (const sourceId of this.sources.keys()) this.connect(sourceId, id)
    }
  }

  /** The one shard. */
  get shard(): Pipeline {
    return this.delivery.shards[0]!
  }

  get file(): string {
    return this.#file
  }

  /** Number of batches that user code ran. */
  get userCodeRuns(): number {
    return this.#userCode.figures().runs
  }

  /** Counts the calls of a sink and closes it with the test. */
  own(sink: Sink): Sink {
    this.#sinks.push(sink)
    return sink
  }

  connect(sourceId: string, destinationId: string, isEnabled = true): void {
    const id = `${sourceId}-${destinationId}`
    this.connections.set(id, { id, sourceId, destinationId, isEnabled })
  }

  // Actions

  partitionOf(sourceId: string): number {
    return this.sources.get(sourceId)?.partition ?? 0
  }

  /** Accepts one batch, as the gateway would. */
  accept(events: readonly object[], { source = 's1', stream = 'live' as Stream } = {}): Promise<Offset> {
    return this.log.append(this.partitionOf(source), stream, recordOf(events, source, this.clock.now()))
  }

  /** Accepts one batch and waits until it is delivered. */
  async send(...events: readonly object[]): Promise<void> {
    await this.accept(events)
    await this.settle()
  }

  /** Changes a destination, or creates it. */
  async change(id: string, change: DestinationChange): Promise<void> {
    const before = this.destinations.get(id)
    const revision = ++this.#revision
    this.destinations.set(id, {
      ...(before ?? destinationOf(id, {})),
      ...change,
      delivery: { ...(before ?? destinationOf(id, {})).delivery, ...change.delivery },
      revision,
    })
    if (before === undefined) for (const sourceId of this.sources.keys()) this.connect(sourceId, id)
    await this.configure()
  }

  /** Applies the current maps. */
  async configure(): Promise<void> {
    await this.delivery.configure(this.configuration())
    await this.settle()
  }

  /** Advances the clock, hours at once, and gives sockets and disk the turns that they need. */
  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms, () => this.#quiet())
  }

  /** Waits until only calls that a sink holds are in progress; the clock stands still. */
  async settle(): Promise<void> {
    await this.advance(0)
  }

  /** Stops in order and starts again on the same files. @param whileDown runs in between. */
  async restart(whileDown: () => unknown = () => {}): Promise<void> {
    await this.#close()
    await whileDown()
    await this.#open()
    await this.settle()
  }

  /** Continues with a copy of the files as they are now, without later writes of this process. */
  async crash(whileDown: () => unknown = () => {}): Promise<void> {
    await this.store.outcomes.positions()
    const file = path.join(this.folder, `delivery-${++this.#generation}.db`)
    for (const suffix of ['', '-wal']) {
      if (existsSync(this.#file + suffix)) copyFileSync(this.#file + suffix, file + suffix)
    }
    await this.#close()
    this.#file = file
    await whileDown()
    await this.#open()
    await this.settle()
  }

  /** Crashes after so many steps; after an odd number, answers have come that were never written. Then all has time to end. */
  async crashAfter(steps: number): Promise<void> {
    for (let i = 0; i < steps; i++) await this.advance(370)
    if (steps % 2 === 1) {
      this.writes = false
      await this.clock.advance(100, () => new Promise((resolve) => setImmediate(resolve)))
    }
    await this.crash()
    this.writes = true
    await this.advance(30 * MINUTE)
  }

  // Observations

  /** The outcomes of the one event with this messageId, by destination. */
  async trace(messageId: string): Promise<Record<string, TracedJourney>> {
    const events = (await this.delivery.trace(messageId)) as { destinations: TracedJourney[] }[]
    if (events.length !== 1) throw new Error(`${events.length} events with messageId ${messageId}`)
    return Object.fromEntries(events[0]!.destinations.map((journey) => [journey.destinationId, journey]))
  }

  /** Its outcome at a destination, with the reason if there is one. */
  async outcome(messageId: string, destinationId = 'd1'): Promise<string | undefined> {
    const journey = (await this.trace(messageId))[destinationId]
    return journey && (journey.reason === null ? journey.outcome : `${journey.outcome}: ${journey.reason}`)
  }

  async state(destinationId = 'd1') {
    return (await this.delivery.states.of(destinationId))!
  }

  async deadLetters(filter: Parameters<DeliveryHost['deadLetters']['page']>[0] = {}) {
    return (await this.delivery.deadLetters.page({ state: 'open', ...filter }, 500, null)).rows
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close()
    await this.log[Symbol.asyncDispose]()
    for (const sink of this.#sinks) sink.close()
    rmSync(this.folder, { recursive: true, force: true })
  }

  async #open(): Promise<void> {
    const logger = {
      info: (fields: object, text: string) => this.logged.push({ level: 'info', text, fields }),
      warn: (fields: object, text: string) => this.logged.push({ level: 'warn', text, fields }),
      error: (fields: object, text: string) => this.logged.push({ level: 'error', text, fields }),
    }
    const { clock } = this
    const { syncMs = DEFAULT_LIMITS.syncMs, wallMs = DEFAULT_LIMITS.wallMs } = this.#setting
    const limits = { ...DEFAULT_LIMITS, workers: 1, syncMs, wallMs }
    this.#userCode = this.#work.watched(new Sandboxes({ limits, fetch: undefined, clock: systemClock, logger }))
    this.store = this.#work.watched(await SqliteDeliveryStore.open({ file: this.#file, clock, logger }))
    const { log, store } = this
    const random = this.#setting.random ?? Math.random
    const openShards = localShard({
      ...{ log, store, clock, random, logger },
      findModule: (type) => this.#modules.get(type),
      sourceClass: (type) => type,
      newClient: (options) => this.#work.client({ ...options, ...this.#setting.client }, clock),
      userCode: {
        run: (run) => this.#userCode.run(run),
        credentials: () => this.credentials,
        capturesLogs: (transformationId) => this.captured.has(transformationId),
        onLog: (transformationId, line) => this.captured.get(transformationId)?.push(line),
      },
      userAgent: 'Millrace/test',
      memoryBytes: this.#setting.memoryBytes ?? 256 * 1024 * 1024,
      onGap: this.#setting.onGap,
    })
    this.delivery = await DeliveryHost.start({
      ...{ log, store, clock, random, logger, openShards },
      configuration: this.configuration(),
      traces: this.#setting.traces ?? { keepMs: 168 * HOUR, maxBytes: 1024 * 1024 * 1024 },
      logKeepMs: this.#setting.logKeepMs ?? 168 * HOUR,
      otherReader: { neededFrom: () => Number.POSITIVE_INFINITY, trouble: () => undefined },
      backlogMaxBytes: this.#setting.backlogMaxBytes ?? 0,
      logMaxBytes: this.#setting.logMaxBytes ?? 0,
      uncleanEnds: 3,
      tellExpired: (destinationId, count) => this.told.push({ destinationId, count }),
    })
  }

  async #close(): Promise<void> {
    await this.delivery.stop(Promise.resolve())
    await this.#userCode.close()
    const closed = this.store.close()
    // The store retries a failed write once before it gives up.
    if (!this.writes) await this.clock.advance(SECOND)
    await closed
  }

  /** The current maps. */
  configuration() {
    return {
      revision: this.#revision,
      sources: new Map(this.sources),
      destinations: new Map(this.destinations),
      connections: new Map(this.connections),
    }
  }

  #quiet(): Promise<void> {
    return this.#work.quiet(
      () => this.#sinks.reduce((sum, sink) => sum + sink.held, 0),
      () => this.delivery.jobs.isScanning,
      async () => {
        if (this.writes) await this.store.flush()
      },
    )
  }
}
