import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryEventLog } from '@millrace/log'
import { leaseSchema, migrate, PostgresLeases, PostgresNotifications, type PostgresPool } from '@millrace/postgres'
import { PostgresServer } from '@millrace/postgres/local-server'
import { BreakingProxy } from '@millrace/postgres/testing/breaking-proxy'
import { TestSchema } from '@millrace/postgres/testing/test-schema'
import type { CatalogLimits, CatalogSource } from '@millrace/schema-catalog'
import {
  CatalogCopy,
  type CatalogCopyOptions,
  CatalogHolder,
  type CatalogHolderOptions,
  type CountedLog,
  catalogSchema,
  StoredCatalog,
} from '@millrace/schema-catalog/cluster'
import { systemClock } from '@millrace/std'
import { afterAll, beforeAll, expect, test } from 'vitest'

/* Holders and copies of one catalog over a real Postgres, in one process, with threads of their own. */

const LEASE_MS = 2_000
/** Of each topic. */
const HOMES = 2
const LIMITS: CatalogLimits = {
  sourceBytes: 2 ** 30,
  modelsPerSource: 2_000,
  versionsPerModel: 200,
  keysPerEvent: 500,
  keysPerModel: 2_000,
  arrayItems: 20,
  frequentPer: 100,
  valuesPerKey: 256,
  valuesPerVersion: 100_000,
  cacheBytes: 64 * 1024 * 1024,
  samples: 5,
  capturesUnknowns: false,
}

/** On a server that this test may stop. */
let server: PostgresServer
const folder = mkdtempSync(join(tmpdir(), 'millrace-cluster-catalog-'))
beforeAll(async () => {
  server = await PostgresServer.start()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

test('two copies answer the same, and each question sees what was accepted before it', async () => {
  await using cluster = await TestCatalog.open('copies')
  cluster.hold()
  const [one, two] = [cluster.copy(), cluster.copy()]
  let sent = 0
  for (let round = 0; round < 5; round++) {
    sent += await cluster.append(20)
    expect(await totals(one)).toBe(sent)
    expect(await totals(two)).toBe(sent)
  }
  expect(await answersOf(one)).toEqual(await answersOf(two))
  const { lagEvents, lagSeconds, positions } = await one.status()
  expect({ lagEvents, lagSeconds }).toEqual({ lagEvents: 0, lagSeconds: 0 })
  expect(positions).toEqual(cluster.ends().map((end, partition) => `${partition}-${end}`))
})

test('snapshots take the place of changes, and a new holder on a fresh disk counts on from them with the same ids', async () => {
  await using cluster = await TestCatalog.open('snapshots')
  const first = cluster.hold({ changes: 3, bytes: 2 ** 30 })
  const copy = cluster.copy()
  let sent = 0
  for (let round = 0; round < 8; round++) {
    sent += await cluster.append(5)
    expect(await totals(copy)).toBe(sent)
  }
  await expect.poll(async () => (await cluster.stored.snapshot())?.change).toBeGreaterThan(2)
  // Counting goes on while a snapshot is stored: what is counted meanwhile waits for the next one, which a later change begins.
  const changesLeft = async () => {
    sent += await cluster.append(5)
    expect(await totals(copy)).toBe(sent)
    return (await cluster.stored.sizeOfChanges()).changes
  }
  await expect.poll(changesLeft).toBeLessThan(4)
  const before = await modelsOf(copy)
  await first.leave()
  cluster.hold()
  const late = cluster.copy()
  sent += await cluster.append(5)
  await expect.poll(() => totals(late)).toBe(sent)
  expect(ids(await modelsOf(late))).toEqual(ids(before))
  expect(await answersOf(late)).toEqual(await answersOf(copy))
})

test('a holder that has not noticed the loss of its lease writes nothing any more', async () => {
  await using cluster = await TestCatalog.open('lost')
  const fenced: number[] = []
  const { holder } = cluster.stand({ onFenced: ({ epoch }) => fenced.push(epoch) })
  await cluster.pool.query(`INSERT INTO lease (kind, number, owner, epoch) VALUES ('catalog', 0, 'paused', 1)`)
  const end = new AbortController()
  await holder.start({ kind: 'catalog', number: 0, epoch: 1, signal: end.signal, mayStart: () => true })
  const copy = cluster.copy()
  const sent = await cluster.append(10)
  expect(await totals(copy)).toBe(sent)
  // Another member claims it, and this one does not hear of that.
  await cluster.pool.query(`UPDATE lease SET epoch = 2, owner = 'other' WHERE kind = 'catalog'`)
  const before = await cluster.everything()
  const more = await cluster.append(10)
  expect(await totals(copy)).toBe(sent)
  await expect.poll(() => fenced).toContain(1)
  expect(await cluster.everything()).toEqual(before)
  end.abort()
  await cluster.pool.query(`UPDATE lease SET owner = NULL, until = NULL WHERE kind = 'catalog'`)
  cluster.hold()
  await expect.poll(() => totals(copy)).toBe(sent + more)
})

test('a commit that failed is made again, and one whose answer was lost counts once', async () => {
  await using cluster = await TestCatalog.open('answers')
  const { holder } = cluster.hold()
  const copy = cluster.copy()
  let sent = 0
  for (const fault of ['before', 'after', 'before', 'after'] as const) {
    sent += await cluster.append(10)
    cluster.stored.fault = fault
    await expect.poll(() => totals(copy)).toBe(sent)
    expect(cluster.stored.fault).toBeUndefined()
  }
  expect(await totals(cluster.copy())).toBe(sent)
  expect(holder.trouble()).toBeUndefined()
})

test('without Postgres the copy answers as of the last change, and the holder counts exactly once it is back', async () => {
  await using cluster = await TestCatalog.open('away')
  const { holder } = cluster.hold()
  const copy = cluster.copy()
  const sent = await cluster.append(10)
  expect(await totals(copy)).toBe(sent)
  await server.kill()
  const more = await cluster.append(10)
  expect(await totals(copy)).toBe(sent)
  await server.start()
  await expect.poll(() => totals(copy), { timeout: 20_000 }).toBe(sent + more)
  expect(holder.trouble()).toBeUndefined()
})

test('a purge removes a source everywhere, and Postgres keeps nothing of it; a rebuild counts all again with the same ids', async () => {
  await using cluster = await TestCatalog.open('removals')
  cluster.hold()
  const [one, two] = [cluster.copy(), cluster.copy()]
  const sent = await cluster.append(20)
  expect([await totals(one), await totals(two)]).toEqual([sent, sent])
  expect(await cluster.holds('Seat')).toBe(true)
  const before = await modelsOf(one)

  await one.rebuild()
  await expect.poll(() => totals(two)).toBe(sent)
  expect(await modelsOf(two)).toEqual(before)

  expect(await one.ask('purge', 'cinema')).toBe(true)
  expect(await totals(one)).toBe(0)
  expect(await totals(two)).toBe(0)
  expect(await one.ask('purge', 'no such source')).toBe(false)
  await expect.poll(() => cluster.holds('Seat')).toBe(false)
  expect(await totals(two)).toBe(0)
  const more = await cluster.append(5)
  expect(await totals(two)).toBe(more)
})

test('a request that no process carries out is refused, and is not carried out later', async () => {
  await using cluster = await TestCatalog.open('withdrawn')
  const first = cluster.hold()
  const copy = cluster.copy()
  const sent = await cluster.append(5)
  expect(await totals(copy)).toBe(sent)
  await first.leave()
  const id = await cluster.stored.request('purge', 'cinema')
  await cluster.stored.withdraw(id)
  cluster.hold()
  const more = await cluster.append(5)
  await expect.poll(() => totals(copy)).toBe(sent + more)
})

test('a request whose answer is lost is known to be made, or not', async () => {
  await using proxy = await BreakingProxy.open(server.url)
  await using pool = TestSchema.on(proxy, 'lost_request').pool()
  await migrate(pool, [leaseSchema, catalogSchema])
  const stored = new StoredCatalog(pool)
  const requests = async () => (await pool.query<{ id: number }>('SELECT id FROM catalog_request')).map(({ id }) => id)
  proxy.next = { message: 'INSERT INTO catalog_request', at: 'after' }
  await expect(stored.request('rebuild', null)).rejects.toThrow('Postgres does not answer')
  expect(await requests()).toEqual([])
  proxy.next = { message: 'COMMIT', at: 'after' }
  expect(await requests()).toEqual([])
  const id = await stored.request('rebuild', null)
  expect([proxy.next, await requests()]).toEqual([undefined, [id]])
})

test('a removal whose progress cannot be asked for a while is answered; for longer, its outcome is unknown', async () => {
  await using cluster = await TestCatalog.open('unasked')
  cluster.hold()
  const copy = cluster.copy({ requestMs: 2_000 })
  await cluster.append(4)
  await expect.poll(() => totals(copy)).toBe(4)
  cluster.stored.progressFaults = 2
  expect(await copy.ask('purge', 'cinema')).toBe(true)
  expect(cluster.stored.progressFaults).toBe(0)

  cluster.stored.progressFaults = Number.POSITIVE_INFINITY
  const name = await copy.rebuild().catch((error: Error) => error.name)
  expect(name).toBe('CatalogOutcomeUnknownError')
})

test('a removal goes on while its holder works at it, however long that takes', async () => {
  await using cluster = await TestCatalog.open('long')
  const first = cluster.hold()
  const copy = cluster.copy({ requestMs: 1_000 })
  await cluster.append(400, 'x'.repeat(20_000))
  await expect.poll(() => totals(copy), { timeout: 20_000 }).toBe(400)
  await cluster.pool.query(`
    CREATE FUNCTION slow() RETURNS trigger AS $$ BEGIN PERFORM pg_sleep(0.4); RETURN NEW; END $$ LANGUAGE plpgsql;
    CREATE TRIGGER slow BEFORE INSERT ON catalog_snapshot FOR EACH ROW EXECUTE FUNCTION slow()`)
  const began = performance.now()
  expect(await copy.ask('purge', 'theatre')).toBe(true)
  expect(performance.now() - began).toBeGreaterThan(1_200)
  expect(await totals(copy)).toBe(200)

  await first.leave()
  const refused = copy.ask('purge', 'cinema').catch((error: Error) => error.message)
  expect(await refused).toBe('no process counts for the schema catalog now')
})

test('a source that allows fewer samples shows them no more, at once, and Postgres keeps none', async () => {
  await using cluster = await TestCatalog.open('narrowed')
  const { holder } = cluster.hold()
  const copy = cluster.copy()
  await cluster.append(5)
  const [model] = await modelsOf(copy)
  expect(await copy.ask('modelMetadata', model!.EventID)).toContain('row-3')
  const masked: CatalogSource[] = [{ id: 'cinema', writeKey: 'key', samples: 'masked', hasValues: false }]
  copy.configure(masked)
  expect(await copy.ask('modelMetadata', model!.EventID)).not.toContain('row-3')
  holder.configure(masked)
  await expect.poll(() => cluster.holds('row-3')).toBe(false)
  expect(await totals(copy)).toBe(5)
})

interface ShownModel {
  readonly ID: number
  readonly EventID: string
  readonly TotalCount: number
}

async function modelsOf(copy: CatalogCopy): Promise<ShownModel[]> {
  const request = { after: undefined, limit: -1, offset: 0, source: undefined, hasExtras: false }
  const { bytes } = await copy.ask('models', request)
  return JSON.parse(`[${Buffer.from(bytes).toString()}]`)
}

function ids(models: readonly ShownModel[]): unknown[] {
  return models.map(({ ID, EventID }) => [ID, EventID])
}

async function totals(copy: CatalogCopy): Promise<number> {
  return (await modelsOf(copy)).reduce((sum, { TotalCount }) => sum + TotalCount, 0)
}

async function answersOf(copy: CatalogCopy): Promise<unknown> {
  const models = await modelsOf(copy)
  const details = await Promise.all(
    models.map(async ({ EventID }) => [await copy.ask('modelMetadata', EventID), await copy.ask('keyCounts', EventID)]),
  )
  return { models, details }
}

/** Postgres, whose connection breaks before or after the commit of the next change. */
class BreakingCatalog extends StoredCatalog {
  /** Times that the progress of a request cannot be asked for. */
  progressFaults = 0
  fault: 'before' | 'after' | undefined

  override async write(...change: Parameters<StoredCatalog['write']>): Promise<void> {
    const { fault } = this
    this.fault = undefined
    if (fault !== 'before') await super.write(...change)
    if (fault !== undefined) throw new Error('the connection broke')
  }

  override async progress(id: number) {
    if (this.progressFaults === 0) return super.progress(id)
    this.progressFaults--
    throw new Error('Postgres is unavailable')
  }
}

/** A log in memory, and the members of one installation. */
class TestCatalog implements AsyncDisposable {
  readonly stored: BreakingCatalog
  readonly pool: PostgresPool
  readonly #schema: TestSchema
  readonly #notifications: PostgresNotifications
  readonly #memory = new MemoryEventLog(2 * HOMES)
  readonly #opened = new AsyncDisposableStack()
  #count = 0

  static async open(name: string): Promise<TestCatalog> {
    const catalog = new TestCatalog(TestSchema.on(server, name))
    await migrate(catalog.pool, [leaseSchema, catalogSchema])
    return catalog
  }

  private constructor(schema: TestSchema) {
    this.#schema = schema
    this.#opened.use(schema)
    this.pool = this.#opened.use(schema.pool())
    this.stored = new BreakingCatalog(this.pool)
    this.#notifications = this.#opened.use(
      new PostgresNotifications({ ...schema, applicationName: 'test', clock: systemClock }),
    )
  }

  /** A member that counts, or stands by. */
  hold(snapshotAfter?: { readonly changes: number; readonly bytes: number }) {
    const { url, schema } = this.#schema
    const memberId = `member-${++this.#count}`
    const leases = new PostgresLeases({
      postgres: { url, schema, applicationName: 'test', logger: { warn: () => {} } },
      notifications: this.#notifications,
      ...{ clock: systemClock, leaseMs: LEASE_MS, memberId },
      member: { roles: ['catalog'], address: '127.0.0.1:8080', version: '1.0.0' },
    })
    const { holder, close } = this.stand({
      onFenced: (lease) => leases.refused([lease]),
      ...(snapshotAfter === undefined ? {} : { snapshotAfter }),
    })
    leases.share(holder, [0])
    let left: Promise<void> | undefined
    const leave = () => (left ??= leases.leave().then(close))
    this.#opened.defer(leave)
    return { holder, leases, leave }
  }

  /** A holder without a lease. */
  stand(own: Pick<CatalogHolderOptions, 'onFenced' | 'snapshotAfter'>) {
    const holder = new CatalogHolder({
      ...this.#common(`holder-${++this.#count}.db`),
      threadFile: new URL('./counter-thread.ts', import.meta.url),
      decisions: async (_partition, _from, to) => ({ to, duplicates: new Map() }),
      ...own,
    })
    let closed: Promise<void> | undefined
    const close = () => (closed ??= holder.close())
    this.#opened.defer(close)
    return { holder, close }
  }

  copy(own: Pick<CatalogCopyOptions, 'requestMs'> = {}): CatalogCopy {
    const copy = new CatalogCopy({
      ...own,
      ...this.#common(`copy-${++this.#count}.db`),
      threadFile: new URL('./copy-thread.ts', import.meta.url),
    })
    this.#opened.defer(() => copy.close())
    return copy
  }

  /** To all partitions in turn. @param note makes events large, and half of them those of another source. @returns the number of events. */
  async append(records: number, note?: string): Promise<number> {
    for (let n = 0; n < records; n++) {
      const partition = n % this.#memory.partitions
      const body = Buffer.from(
        JSON.stringify({
          type: 'track',
          event: note === undefined ? `Seat ${n % 3}` : `Seat ${n % 60}`,
          userId: 'u',
          properties: { seat: `row-${n % 7}`, note },
        }),
      )
      const header = {
        sourceId: note !== undefined && n % 2 === 0 ? 'theatre' : 'cinema',
        route: 'track' as const,
        acceptedAt: Date.now(),
        clientAddress: '::1',
        seed: Uint8Array.from({ length: 16 }, (_, i) => n * 31 + i),
        rules: 1,
        policySet: 0,
        messageHashes: new Uint8Array(8),
      }
      await this.#memory.append(partition, partition < HOMES ? 'live' : 'backfill', { header, body })
    }
    return records
  }

  ends(): number[] {
    return Array.from({ length: this.#memory.partitions }, (_, partition) => this.#memory.end(partition))
  }

  /** Everything that holders write. */
  async everything(): Promise<unknown> {
    const state = await this.pool.query('SELECT change, answered FROM catalog_state')
    const changes = await this.pool.query('SELECT change, piece, md5(bytes) FROM catalog_change ORDER BY 1, 2')
    const snapshots = await this.pool.query('SELECT change, piece, md5(bytes) FROM catalog_snapshot ORDER BY 1, 2')
    return { state, changes, snapshots }
  }

  /** Whether Postgres has a text in a change or a snapshot. */
  async holds(text: string): Promise<boolean> {
    const [row] = await this.pool.query<{ found: boolean }>(
      `SELECT EXISTS (
         SELECT 1 FROM (SELECT bytes FROM catalog_change UNION ALL SELECT bytes FROM catalog_snapshot) AS stored
         WHERE position(convert_to($1, 'UTF8') IN bytes) > 0) AS found`,
      [text],
    )
    return row!.found
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync()
  }

  #common(file: string) {
    const quiet = { info: () => {}, warn: () => {}, error: () => {} }
    const sources: CatalogSource[] = [{ id: 'cinema', writeKey: 'key', samples: 'full', hasValues: true }]
    return {
      stored: this.stored,
      log: this.#log(),
      limits: LIMITS,
      file: join(folder, `${this.#schema.schema}-${file}`),
      notifications: this.#notifications,
      sources,
      clock: systemClock,
      logger: quiet,
      onFault: (error: Error) => {
        throw error
      },
    }
  }

  /** With the calls that only a log of several processes has. */
  #log(): CountedLog {
    const log = this.#memory
    return {
      partitions: log.partitions,
      homes: HOMES,
      end: (partition) => log.end(partition),
      readEnds: async () => this.ends(),
      deletedBefore: () => log.deletedBefore(),
      follow: async () => () => {},
      onCommit: (listener) => log.onCommit(listener),
      scan: (...range) => log.scan(...range),
      read: (...range) => log.read(...range),
      tally: (...range) => log.tally(...range),
    }
  }
}
