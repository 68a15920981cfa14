import { EgressRules, HostNames, LocalDestinationLimits, OutboundClient } from '@millrace/delivery'
import {
  deliverySchema,
  PostgresDeliveryStore,
  type PostgresDeliveryStoreOptions,
  PostgresStoredDuplicates,
  type SpansWrite,
  writeConfigurationSpans,
} from '@millrace/delivery/postgres'
import { DestinationRegistry } from '@millrace/destinations'
import type { Dedup, Offset } from '@millrace/log'
import { KafkaEventLog } from '@millrace/log/kafka'
import { brokerOfRun } from '@millrace/log/testing/test-run'
import { DeliveryMetrics } from '@millrace/pipeline'
import { LogScan, OwnedMarks, OwnedShards, ShardJobs, type ShardLease, Spans } from '@millrace/pipeline/cluster'
import { Sink } from '@millrace/pipeline/testing/sink'
import { destinationOf } from '@millrace/pipeline/testing/test-destination'
import { recordOf, tracks } from '@millrace/pipeline/testing/test-events'
import { leaseSchema, migrate, type PostgresPool } from '@millrace/postgres'
import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { systemClock } from '@millrace/std'
import { decidedLog } from '../decided-log.ts'

const SILENT = { info() {}, warn() {}, error() {} }
const HOUR_MS = 3_600_000

/** An engine of which some methods behave differently. */
export function changed<T extends object>(engine: T, changes: Partial<T>): T {
  return new Proxy(engine, {
    get(_, name) {
      if (Object.hasOwn(changes, name)) return changes[name as keyof T]
      const member: unknown = Reflect.get(engine, name, engine)
      return typeof member === 'function' ? member.bind(engine) : member
    },
  })
}

/** Topics and a schema of a test's own, with the tables of deliveries and leases. */
export class EnginesUnderTest implements AsyncDisposable {
  readonly pool: PostgresPool
  readonly #schema: TestSchema
  readonly #opened = new AsyncDisposableStack()
  readonly #open: () => Promise<KafkaEventLog>

  private constructor(schema: TestSchema, open: () => Promise<KafkaEventLog>) {
    this.#schema = this.#opened.use(schema)
    this.pool = this.#opened.use(schema.pool())
    this.#open = open
  }

  /** @param options of each log. */
  static async start(
    name: string,
    options: Partial<Parameters<typeof KafkaEventLog.open>[0]> = {},
  ): Promise<EnginesUnderTest> {
    const { addresses: brokers } = await brokerOfRun()
    const schema = await TestSchema.open(name)
    const open = () =>
      KafkaEventLog.open({
        ...{ kafka: { brokers }, prefix: schema.schema, clock: systemClock, partitions: 1, retentionMs: 24 * HOUR_MS },
        ...{ maxRecordBytes: 5_000_000, isUnsafeAllowed: true, ...options },
      })
    const engines = new EnginesUnderTest(schema, open)
    await migrate(engines.pool, [leaseSchema, deliverySchema])
    return engines
  }

  /** The log as another process has it. */
  async log(): Promise<KafkaEventLog> {
    return this.#opened.use(await this.#open())
  }

  /** The store as another process has it. */
  async store(options: Partial<PostgresDeliveryStoreOptions> = {}): Promise<PostgresDeliveryStore> {
    const { pool } = this
    const store = await PostgresDeliveryStore.open({
      ...{ pool, process: 'p1', clock: systemClock, logger: SILENT, ...options },
    })
    this.#opened.defer(() => store.close())
    return store
  }

  /** Of the topics. */
  get prefix(): string {
    return this.#schema.schema
  }

  /** As a claim does. @returns the new epoch. */
  async claim(kind: string, number: number): Promise<number> {
    const [row] = await this.pool.query<{ epoch: number }>(
      `INSERT INTO lease (kind, number, owner, epoch) VALUES ($1, $2, 'test', 1)
       ON CONFLICT (kind, number) DO UPDATE SET epoch = lease.epoch + 1 RETURNING epoch`,
      [kind, number],
    )
    return row!.epoch
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync()
  }
}

/** Accepts one record with so many events, as a gateway does. @returns where the partition then ends. */
export async function accept(log: KafkaEventLog, home: number, count: number, dedup?: Dedup): Promise<Offset> {
  return (await log.append(home, 'live', recordOf(tracks(count), `s${home}`, Date.now()), dedup)) + 1
}

/** A lease that the test ends by hand. */
export interface LeaseUnderTest extends ShardLease {
  lose(): void
}

interface Faults {
  readonly log?: (log: KafkaEventLog) => Partial<KafkaEventLog>
  readonly store?: (store: PostgresDeliveryStore) => Partial<PostgresDeliveryStore>
}

/**
 * The shards of one process with their replays: each has a source, all are connected to the one webhook `d1`. The test holds
 * the leases by hand.
 */
export class ShardsUnderTest implements AsyncDisposable {
  readonly engines: EnginesUnderTest
  readonly log: KafkaEventLog
  readonly store: PostgresDeliveryStore
  readonly sink: Sink
  readonly marks: OwnedMarks
  readonly owned: OwnedShards
  /** Replays that wait for the decisions of an owner. */
  waitingReplays = 0
  readonly #jobs: ShardJobs
  readonly #scan: LogScan
  readonly #leases = new Set<LeaseUnderTest>()

  static async start(engines: EnginesUnderTest, faults: Faults = {}): Promise<ShardsUnderTest> {
    const log = await engines.log()
    const self: ShardsUnderTest = new ShardsUnderTest({
      ...{ engines, sink: await Sink.start(), registry: await DestinationRegistry.load() },
      log: changed(log, faults.log?.(log) ?? {}),
      store: await engines.store({
        fence: {
          shardOf: (partition) => partition % log.homes,
          epochOf: (shard) => self.owned.epochOf(shard),
          onFenced: (shards) => self.owned.fenced(shards),
        },
      }),
      faults,
    })
    const configuration = self.#configuration()
    const ends = await log.readEnds()
    const changeOf: SpansWrite['changeOf'] = (all) => new Spans(log, all).reconcile({ configuration, ends })
    await engines.pool.write((queries) => writeConfigurationSpans(queries, { revision: 1, ends, changeOf }))
    return self
  }

  private constructor(
    parts: Pick<ShardsUnderTest, 'engines' | 'log' | 'store' | 'sink'> & {
      readonly registry: DestinationRegistry
      readonly faults: Faults
    },
  ) {
    const { engines, log, sink, registry, faults } = parts
    this.engines = engines
    this.log = log
    this.sink = sink
    this.store = parts.store
    const store = changed(parts.store, faults.store?.(parts.store) ?? {})
    this.marks = new OwnedMarks(new PostgresStoredDuplicates(engines.pool))
    const limits = new LocalDestinationLimits()
    const rules = new EgressRules({ allow: '127.0.0.1', deny: undefined, listenHost: '127.0.0.1' })
    const lookup = new HostNames({ clock: systemClock }).forDestination()
    const shared = { log, store, clock: systemClock, logger: SILENT, metrics: new DeliveryMetrics() }
    this.owned = new OwnedShards({
      ...{ ...shared, marks: this.marks, memoryBytes: 2 ** 26, shutdownMs: 1, uncleanEnds: 0 },
      ...{ random: Math.random, userAgent: 'Millrace/test', sourceClass: (type) => type },
      limits: { of: () => limits, forget: () => {} },
      findModule: (type) => registry.find(type),
      newClient: (options) => new OutboundClient({ ...options, rules, lookup, clock: systemClock }),
      userCode: {
        run: () => Promise.reject(new Error('the destination has no transformation')),
        ...{ credentials: () => new Map(), capturesLogs: () => false, onLog: () => {} },
      },
      live: { isWatched: false, accepted: () => {}, outcome: () => {} },
      newest: async () => ({ configuration: this.#configuration(), spans: await store.spans.all() }),
      onDuplicates: () => {},
      onFenced: ({ number, epoch }) => {
        for (const lease of this.#leases) if (lease.number === number && lease.epoch === epoch) lease.lose()
      },
      onShards: ({ kind, shard }) => (kind === 'begun' ? this.#jobs.begin(shard) : this.#jobs.end(shard)),
      onReplayEnded: (shard, jobId, destinationId) => this.#jobs.ended(shard, jobId, destinationId),
    })
    const decided = async (partition: number) => {
      this.waitingReplays++
      await this.owned.decided(partition).finally(() => this.waitingReplays--)
    }
    this.#scan = new LogScan(decidedLog(log, decided), store, systemClock, () => {})
    this.#jobs = new ShardJobs({
      ...{ ...shared, scan: this.#scan, homes: log.homes, onNeeded: () => {} },
      configuration: () => this.#configuration(),
    })
  }

  /** Claims a shard, and begins it. */
  async start(number = 0): Promise<LeaseUnderTest> {
    const lease = await this.claim(number)
    await this.owned.start(lease)
    return lease
  }

  async claim(number: number): Promise<LeaseUnderTest> {
    const end = new AbortController()
    const epoch = await this.engines.claim('shard', number)
    const lease = { number, epoch, signal: end.signal, mayStart: () => true, lose: () => end.abort() }
    this.#leases.add(lease)
    return lease
  }

  /** Creates a replay of all that the first shard holds. @returns whether all parts of it have ended, and nothing of it is under way. */
  async replay(): Promise<() => Promise<boolean>> {
    const ends = await this.log.readEnds()
    const { jobs } = this.store
    const all = { types: [], events: [], userIds: [], messageIds: [], outcomes: [] }
    const { id } = await jobs.createOfLog({
      ...{ id: 'j1', isDryRun: false, ratePerSecond: 1_000, createdBy: 'test', at: Date.now() },
      ...{ destinationIds: ['d1'], starts: ends.map(() => [0, 0]) },
      selection: { ...all, sourceIds: ['s0'], from: 0, to: Date.now() + HOUR_MS, ends },
    })
    return async () => {
      const areAtEnd = (await jobs.get(id))!.parts.every(({ isAtEnd }) => isAtEnd)
      const underWay = await jobs.replayingEvents({ jobId: id, partitions: [...ends.keys()] })
      return areAtEnd && underWay.length === 0
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.sink.close()
    await this.#jobs.stop()
    for (const lease of this.#leases) await this.owned.stop(lease)
    await this.owned.close()
    await this.#scan.rest()
  }

  #configuration() {
    const homes = Array.from({ length: this.log.homes }, (_, home) => home)
    const sources = homes.map((home) => ({ id: `s${home}`, name: `s${home}`, type: 'cloud', partition: home }))
    const connections = homes.map((home) => {
      return { id: `c${home}`, sourceId: `s${home}`, destinationId: 'd1', isEnabled: true }
    })
    const byId = <T extends { readonly id: string }>(all: readonly T[]) => new Map(all.map((each) => [each.id, each]))
    const destinations = byId([destinationOf('d1', { config: { webhookUrl: this.sink.url } })])
    return { revision: 1, sources: byId(sources), destinations, connections: byId(connections) }
  }
}
