import { LaneEvent, type LaneOutcomes, type ShardFence } from '@millrace/delivery'
import { deliverySchema, PostgresDeliveryStore } from '@millrace/delivery/postgres'
import { leaseSchema, migrate, type PostgresPool } from '@millrace/postgres'
import { missingForPostgres, PostgresServer } from '@millrace/postgres/local-server'
import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { systemClock } from '@millrace/std'
import type { Bench } from '../bench.ts'
import type { Measured, Row } from '../row.ts'
import { median, middleHalf } from '../statistics.ts'

/*
 * How many outcomes one process writes into Postgres, with the server on the same cores and its disk synced: lanes that
 * always have more, up to the 1,000 unwritten outcomes that each may have. The limit is one INSERT of the same bytes for
 * 1,000 outcomes of each lane, without an index, a fence, a position or a count.
 */

const LANES = 8
const SHARDS = 8
const MAX_UNWRITTEN = 1_000
const ENTRY_BYTES = 20
const RUN_MS = 4_000
const RUNS = 5

export const postgresOutcomeRows: readonly Row[] = [
  {
    name: 'PG1',
    figure: 'outcomes/s into Postgres, all delivered at once',
    goal: '≥ 180,000/s on two cores',
    measure: (bench) => measure(bench, deliverAll),
  },
  {
    name: 'PG1b',
    figure: 'the same with 5 % waits and 5 % dead letters',
    goal: '',
    measure: (bench) => measure(bench, deliverMost),
  },
]

/** Adds the outcome of the event at an offset. */
type Add = (outcomes: LaneOutcomes, place: { partition: number; offset: number }, now: number) => void

async function measure(bench: Bench, add: Add): Promise<Measured> {
  const missing = missingForPostgres()
  if (missing !== undefined) return { measured: missing, samples: {} }
  await using server = await PostgresServer.start(undefined, process.pid, [])
  const schema = TestSchema.on(server, 'outcomes')
  await using pool = schema.pool()
  await migrate(pool, [leaseSchema, deliverySchema])
  const runs = bench.isSmall ? 1 : RUNS
  await using opened = new AsyncDisposableStack()
  const store = await openStore(pool)
  opened.defer(() => store.close())
  await pool.query('CREATE TABLE least (entries bytea NOT NULL)')
  await storedPerSecond(store, pool, add)
  const [stored, least]: [number[], number[]] = [[], []]
  for (let run = 0; run < runs; run++) {
    stored.push(await storedPerSecond(store, pool, add))
    least.push(await leastPerSecond(pool))
  }
  const ratios = stored.map((each, i) => each / least[i]!)
  return {
    measured: `${Math.round(median(stored))}/s`,
    limit: `${Math.round(median(least))}/s`,
    ratio: median(ratios),
    spread: middleHalf(ratios)
      .map((each) => each.toFixed(2))
      .join('–'),
    samples: { stored, least },
  }
}

async function openStore(pool: PostgresPool): Promise<PostgresDeliveryStore> {
  await pool.query(
    `INSERT INTO lease (kind, number, owner, epoch) SELECT 'shard', n, 'bench', 1 FROM generate_series(0, $1) n`,
    [SHARDS - 1],
  )
  const fence: ShardFence = {
    shardOf: (partition) => partition % SHARDS,
    epochOf: () => 1,
    onFenced: (shards) => {
      throw new Error(`shards ${shards.join()} were refused`)
    },
  }
  const logger = { info() {}, error: (fields: object, text: string) => console.error(text, fields) }
  return PostgresDeliveryStore.open({ pool, process: 'bench', clock: systemClock, logger, fence })
}

/** No two runs have outcomes of the same event. */
let lastOffset = 0

/** Fills the lanes for some seconds. @throws if the tables hold another number of outcomes than was added. */
async function storedPerSecond(store: PostgresDeliveryStore, pool: PostgresPool, add: Add): Promise<number> {
  const before = await countStored(pool)
  const lanes = Array.from({ length: LANES }, (_, i) => store.outcomesOf(`destination-${i}`))
  let added = 0
  const started = performance.now()
  let isOver = false
  for (const lane of lanes) {
    lane.positions = () =>
      Array.from({ length: SHARDS }, (_, partition) => ({
        partition,
        stream: 0,
        position: { offset: lastOffset, index: 0 },
      }))
    const fill = () => {
      const now = Date.now()
      while (!isOver && lane.unwritten < MAX_UNWRITTEN)
        add(lane, { partition: added++ % SHARDS, offset: ++lastOffset }, now)
    }
    lane.onPersisted = fill
    fill()
  }
  await new Promise((resolve) => setTimeout(resolve, RUN_MS))
  isOver = true
  await store.flush()
  const seconds = (performance.now() - started) / 1_000
  const stored = (await countStored(pool)) - before
  if (stored !== added) throw new Error(`${added} outcomes were added, and ${stored} are stored`)
  return added / seconds
}

async function countStored(pool: PostgresPool): Promise<number> {
  const [row] = await pool.query<{ count: number }>(
    `SELECT ((SELECT coalesce(sum(octet_length(entries)), 0) / ${ENTRY_BYTES} FROM block) + (SELECT count(*) FROM journey)
       + (SELECT count(*) FROM dead_letter) + (SELECT coalesce(sum(letters), 0) FROM letter_range))::bigint AS count`,
  )
  return row!.count
}

async function leastPerSecond(pool: PostgresPool): Promise<number> {
  const entries = Buffer.alloc(MAX_UNWRITTEN * ENTRY_BYTES, 7)
  const text = 'INSERT INTO least SELECT $1 FROM generate_series(1, $2)'
  const started = performance.now()
  let inserts = 0
  for (; performance.now() - started < RUN_MS; inserts++) await pool.query(text, [entries, LANES])
  return (inserts * LANES * MAX_UNWRITTEN) / ((performance.now() - started) / 1_000)
}

const FACTS = { sourceId: 'source-1', acceptedAt: 0, sizeBytes: 800, userKey: 0, anonymousKey: 0 }

function deliverAll(outcomes: LaneOutcomes, place: { partition: number; offset: number }, now: number): void {
  outcomes.delivered(eventAt(place), 200, 12, now, 1)
}

function deliverMost(outcomes: LaneOutcomes, place: { partition: number; offset: number }, now: number): void {
  const { destinationId } = outcomes
  const shared = { ...place, stream: 0, index: 0, destinationId, sourceId: 'source-1', replayId: null, acceptedAt: now }
  const requests = [{ method: 'POST', endpoint: 'http://10.0.0.7/hook', headers: {}, attempts: [] }]
  switch (place.offset % 20) {
    case 0:
      outcomes.journey(eventAt(place), {
        ...{ ...shared, outcome: 'waiting', reason: null, sizeBytes: 800, userKey: 0, anonymousKey: 0, attempts: 1 },
        ...{ deliveredRequests: 0, firstAttemptAt: now, dueAt: now + 10_000, requests, revision: 1, at: now },
      })
      break
    case 10:
      outcomes.deadLetter(eventAt(place), {
        ...{ ...shared, stage: 'delivery', reason: 'answered 400', deadAt: now, attempts: 1, lastStatus: 400 },
        ...{ lastAnswer: 'no', revision: 1, requests, event: EVENT },
      })
      break
    default:
      deliverAll(outcomes, place, now)
  }
}

const EVENT = JSON.stringify({ type: 'track', event: 'Seat Reserved', properties: { note: 'x'.repeat(700) } })

function eventAt({ partition, offset }: { partition: number; offset: number }): LaneEvent {
  return new LaneEvent({ partition, stream: 0, offset, index: 0 }, FACTS, undefined)
}
