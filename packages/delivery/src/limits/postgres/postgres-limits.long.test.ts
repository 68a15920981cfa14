import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { PostgresPool } from '@millrace/postgres'
import { PostgresServer } from '@millrace/postgres/local-server'
import { TestSchema } from '@millrace/postgres/testing/test-schema'
import { systemClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { deliveryTestSchema } from '../../store/postgres/testing/store-under-test.ts'
import type { AttemptNote, LaneLimits, LimitSettings } from '../destination-limits.ts'
import { PostgresLimits } from './postgres-limits.ts'

const FAILED: AttemptNote = { sign: 'failed', isDelivered: false, overloadedSince: undefined }
const DELIVERED: AttemptNote = { sign: 'good', isDelivered: true, overloadedSince: undefined }
const SETTINGS: LimitSettings = { concurrency: 100, throttle: null, revision: 1 }
const THROTTLE_SECONDS = 20

test.concurrent.each([2, 4])(
  `a throttle of 45 per ${THROTTLE_SECONDS} s over %i processes lets never more than 45 through in any of them, and at least 40`,
  async (count) => {
    await using schema = await deliveryTestSchema(TestSchema.open('throttle'))
    const rule = { limit: 45, windowMs: THROTTLE_SECONDS * 1_000 }
    const sent: number[] = []
    const processes = Array.from({ length: count }, (_, n) => throttledProcess(schema, `p${n}`, rule, sent))
    await expect.poll(() => sent.length, { timeout: 20_000 }).toBeGreaterThan(0)
    // The third window has begun by then.
    const runMs = 2 * (rule.windowMs + 1_000) + 3_000
    const end = Math.min(...sent) + runMs
    await expect.poll(now, { timeout: 2 * runMs, interval: 100 }).toBeGreaterThan(end)
    await Promise.all(processes.map(ended))
    sent.sort((a, b) => a - b)
    for (const [i, at] of sent.entries()) {
      if (i >= rule.limit) expect(at - sent[i - rule.limit]!).toBeGreaterThanOrEqual(rule.windowMs)
    }
    const inRun = sent.filter((at) => at <= end).length
    expect(inRun / (runMs / rule.windowMs), `${inRun} in ${runMs} ms`).toBeGreaterThanOrEqual(40)
  },
  120_000,
)

test('an outage that begins at one process stops the others within a second; one of them probes, and ends it for all', async () => {
  await using cluster = await processes(3)
  const [a, b, c] = cluster.lanes as [Lane, Lane, Lane]
  const { pool } = cluster
  fail(a, 20)
  expect(a.limits.outageState).toBe('resting')
  const started = performance.now()
  await expect.poll(states(cluster.lanes), { interval: 10 }).toEqual(['resting', 'resting', 'resting'])
  expect(performance.now() - started).toBeLessThan(1_000)
  expect(b.limits.takeCall(false)).toBe(false)
  expect(Math.abs(b.limits.outage.nextProbe - a.limits.outage.nextProbe)).toBeLessThan(1_000)

  for (let failed = 1; failed <= 2; failed++) {
    await makeDue(pool)
    const prober = await oneProber(cluster.lanes)
    prober.limits.note(FAILED, systemClock.monotonic())
    prober.limits.returnCall(false)
    await expect
      .poll(() => cluster.lanes.map(({ limits }) => limits.outage.failedProbes))
      .toEqual([failed, failed, failed])
    expect(cluster.lanes.every(({ limits }) => limits.probeWaitMs(systemClock.monotonic()) > 28_000)).toBe(true)
  }

  await makeDue(pool)
  const prober = await oneProber(cluster.lanes)
  prober.limits.note(DELIVERED, systemClock.monotonic())
  prober.limits.returnCall(false)
  await expect.poll(states(cluster.lanes)).toEqual(['ok', 'ok', 'ok'])
  expect([b.limits.takeCall(false), c.limits.takeCall(false)]).toEqual([true, true])
})

test('the probe of a process that ends is free after its lease; one that is not sent is free at once', async () => {
  await using cluster = await processes(2)
  const { lanes, pool } = cluster
  fail(lanes[0]!, 20)
  await expect.poll(states(lanes)).toEqual(['resting', 'resting'])
  await makeDue(pool)
  const first = await oneProber(lanes)
  const other = lanes.find((lane) => lane !== first)!
  await delay(700)
  expect(tryProbe(other)).toBe(false)
  first.limits.endProbe()
  first.limits.returnCall(false)
  await expect.poll(() => tryProbe(other), { interval: 20 }).toBe(true)
  // As if that process had ended a minute ago.
  await pool.query("UPDATE limit_state SET probe_until = now() - interval '1 s'")
  await expect.poll(() => tryProbe(first), { interval: 20 }).toBe(true)
})

test('a changed configuration is tried once, at once, by one of the processes', async () => {
  await using cluster = await processes(2)
  const { lanes } = cluster
  lanes[0]!.limits.takeCall(false)
  lanes[0]!.limits.note({ ...FAILED, sign: 'unauthorised' }, systemClock.monotonic())
  lanes[0]!.limits.returnCall(false)
  await expect.poll(states(lanes)).toEqual(['unauthorised', 'unauthorised'])
  for (const { limits } of lanes) limits.configure({ ...SETTINGS, revision: 2 }, systemClock.monotonic())
  const prober = await oneProber(lanes)
  prober.limits.note({ ...FAILED, sign: 'unauthorised' }, systemClock.monotonic())
  prober.limits.returnCall(false)
  await expect.poll(() => lanes.map(({ limits }) => limits.outage.failedProbes)).toEqual([1, 1])
  await delay(700)
  expect(lanes.map(tryProbe)).toEqual([false, false])
})

test('calls in flight are divided by the processes that have work for the destination, each at least one', async () => {
  const others = new Map([['d1', 2]])
  await using cluster = await processes(1, { settings: { ...SETTINGS, concurrency: 10 }, others })
  const [lane] = cluster.lanes as [Lane]
  const level = () => lane.limits.concurrency
  await expect.poll(level).toBe(3)
  deliver(lane, 50)
  expect(level(), 'it does not grow beyond its part').toBe(3)
  others.set('d1', 20)
  await expect.poll(level, { timeout: 5_000 }).toBe(1)
  others.delete('d1')
  await expect.poll(() => deliver(lane, 100) ?? level(), { timeout: 5_000 }).toBe(10)
})

test('while Postgres is away there are no tokens and no probes; concurrency and outage stay; then all goes on', async () => {
  await using server = await PostgresServer.start()
  const throttle = { limit: 45, windowSeconds: 1 }
  const settings = { ...SETTINGS, concurrency: 9, throttle }
  await using cluster = await processes(2, {
    settings,
    schema: TestSchema.on(server, 'away'),
    others: new Map([['d1', 1]]),
  })
  const [a, b] = cluster.lanes as [Lane, Lane]
  await expect.poll(() => tokens(a)).toBeGreaterThan(0)
  await expect.poll(() => a.limits.concurrency).toBe(4)
  await server.kill()
  await delay(1_200)
  tokens(a)
  for (let i = 0; i < 10; i++) {
    expect([tokens(a), tokens(b)]).toEqual([0, 0])
    await delay(100)
  }
  expect(a.limits.concurrency).toBe(4)
  fail(a, 20)
  expect([a.limits.outageState, b.limits.outageState], 'it cannot be told').toEqual(['resting', 'ok'])
  expect(a.limits.takeProbe(false, systemClock.monotonic() + 31_000)).toBe(false)
  await server.start()
  await expect.poll(states([a, b]), { timeout: 10_000 }).toEqual(['resting', 'resting'])
  await expect.poll(() => tokens(b), { timeout: 10_000 }).toBeGreaterThan(0)
  expect(cluster.warned.length, 'once per process').toBe(2)
})

interface Lane {
  readonly limits: LaneLimits
}

interface ProcessesOptions {
  readonly settings?: LimitSettings
  readonly schema?: TestSchema
  readonly others?: ReadonlyMap<string, number>
}

/** Processes with one lane each, over connections of their own. */
async function processes(count: number, options: ProcessesOptions = {}) {
  const { settings = SETTINGS, others = new Map() } = options
  const schema = await deliveryTestSchema(options.schema ?? TestSchema.open('limits'))
  const warned: string[] = []
  const logger = { info: () => {}, warn: (_: object, text: string) => void warned.push(text) }
  const pools: PostgresPool[] = []
  const opened = Array.from({ length: count }, (_, n) => {
    const pool = schema.pool({ connections: 2, timeouts: { connectMs: 500 } })
    pools.push(pool)
    return new PostgresLimits({
      ...{ pool, process: `p${n}`, clock: systemClock, logger },
      ...{ others: async () => new Map(others), members: () => count },
    })
  })
  const lanes = opened.map(
    (each): Lane => ({
      limits: each.of('d1').join(settings, () => {}, systemClock.monotonic()),
    }),
  )
  return {
    ...{ lanes, pool: pools[0]!, warned },
    async [Symbol.asyncDispose]() {
      for (const each of opened) await each[Symbol.asyncDispose]()
      for (const pool of pools) await pool[Symbol.asyncDispose]()
      if (options.schema === undefined) await schema[Symbol.asyncDispose]()
    },
  }
}

function fail({ limits }: Lane, times: number): void {
  for (let i = 0; i < times; i++) {
    expect(limits.takeCall(false)).toBe(true)
    limits.note(FAILED, systemClock.monotonic())
    limits.returnCall(false)
  }
}

function deliver({ limits }: Lane, times: number): void {
  for (let i = 0; i < times; i++) limits.note(DELIVERED, systemClock.monotonic())
}

function states(lanes: readonly Lane[]): () => string[] {
  return () => lanes.map(({ limits }) => limits.outageState)
}

/** Takes tokens until it is refused. */
function tokens({ limits }: Lane): number {
  let taken = 0
  while (limits.takeThrottle(false, systemClock.monotonic()) === 0) taken++
  return taken
}

/** Rests take half a minute: the next probe is due now. */
async function makeDue(pool: PostgresPool): Promise<void> {
  await pool.query('UPDATE limit_state SET next_probe = now(), version = version + 1')
}

function tryProbe({ limits }: Lane): boolean {
  const now = systemClock.monotonic()
  return limits.probeWaitMs(now) === 0 && limits.takeProbe(false, now)
}

/** Waits until one of them has the probe, and looks that no other gets it in the turns after that. */
async function oneProber(lanes: readonly Lane[]): Promise<Lane> {
  const found: Lane[] = []
  const look = () => {
    for (const lane of lanes) if (!found.includes(lane) && tryProbe(lane)) found.push(lane)
    return found.length
  }
  await expect.poll(look, { interval: 20, timeout: 5_000 }).toBe(1)
  for (let i = 0; i < 14; i++) {
    await delay(50)
    expect(look()).toBe(1)
  }
  return found[0]!
}

/** @param sent gets the times at which it sends. */
function throttledProcess(
  { url, schema }: TestSchema,
  name: string,
  { limit, windowMs }: { readonly limit: number; readonly windowMs: number },
  sent: number[],
): ChildProcess {
  const script = fileURLToPath(new URL('./testing/throttled-process.ts', import.meta.url))
  const child = spawn(process.execPath, [script, url, schema, name, `${limit}`, `${windowMs / 1_000}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  createInterface({ input: child.stdout }).on('line', (line) => sent.push(Number.parseFloat(line)))
  return child
}

async function ended(child: ChildProcess): Promise<void> {
  const closed = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGKILL')
  await closed
}

/** Ms of the machine's monotonic clock. */
function now(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000
}
