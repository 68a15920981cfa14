import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { migrate } from '../migrations.ts'
import type { PostgresPool } from '../postgres-pool.ts'
import { TestSchema } from '../testing/test-schema.ts'
import { leaseSchema } from './lease-table.ts'

const LEASE_MS = 3_000
const SHARDS = 4

let schema: TestSchema
let pool: PostgresPool

beforeAll(async () => {
  schema = await TestSchema.open('members')
  pool = schema.pool()
  await migrate(pool, [leaseSchema])
  await pool.query(
    `CREATE TABLE written (id bigserial PRIMARY KEY, shard integer, epoch bigint, member text,
                           at timestamptz DEFAULT clock_timestamp())`,
  )
})

beforeEach(async () => {
  await pool.query('TRUNCATE member, lease, written')
})

afterAll(async () => {
  await pool[Symbol.asyncDispose]()
  await schema[Symbol.asyncDispose]()
})

test('the shards of a killed member are written by another within the lease plus a quarter', async () => {
  await using killed = await Member.start('killed')
  await using other = await Member.start('other')
  await killed.holds(SHARDS / 2)
  await other.holds(SHARDS / 2)
  const lost = await ownedBy('killed')
  expect(lost).toHaveLength(SHARDS / 2)
  const [last] = await pool.query<{ at: number }>('SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS at')
  killed.signal('SIGKILL')
  await expect.poll(async () => (await shardsOf('other')).filter((shard) => lost.includes(shard))).toEqual(lost)
  const first = await pool.query<{ at: number }>(
    `SELECT extract(epoch FROM min(at))::float8 * 1000 AS at FROM written
     WHERE member = 'other' AND shard = ANY ($1) GROUP BY shard`,
    [lost],
  )
  const takeovers = first.map(({ at }) => at - last!.at)
  expect(Math.max(...takeovers)).toBeLessThan(LEASE_MS * 1.25)
  expect(await epochsThatGoBack()).toEqual([])
})

test('the shards of a member that gets SIGTERM are written by another within a second', async () => {
  await using ended = await Member.start('ended')
  await using other = await Member.start('other')
  await ended.holds(SHARDS / 2)
  await other.holds(SHARDS / 2)
  const started = performance.now()
  ended.signal('SIGTERM')
  await expect.poll(() => shardsOf('other'), { interval: 10 }).toHaveLength(SHARDS)
  expect(performance.now() - started).toBeLessThan(1_000)
  expect(await ended.exit).toBe(0)
  expect(ended.told('abort')).toEqual([])
  expect(ended.told('stop')).toHaveLength(ended.told('start').length)
})

test.each([
  ['by its clock', ''],
  ['by the fence, if it ignores its clock', 'zombie'],
])('a member stopped for twice its lease records nothing afterwards: %s', async (_, mode) => {
  await using stopped = await Member.start('stopped', mode)
  await stopped.holds(SHARDS)
  await expect.poll(() => shardsOf('stopped')).toHaveLength(SHARDS)
  stopped.signal('SIGSTOP')
  const at = performance.now()
  await using other = await Member.start('other')
  await other.holds(SHARDS)
  await expect.poll(() => performance.now() - at, { timeout: LEASE_MS * 4 }).toBeGreaterThan(LEASE_MS * 2)
  const [before] = await pool.query<{ id: number }>('SELECT max(id) AS id FROM written')
  stopped.signal('SIGCONT')
  await expect.poll(() => stopped.told('abort')).toHaveLength(SHARDS)
  if (mode === 'zombie') await expect.poll(() => stopped.told('fenced').length).toBeGreaterThan(SHARDS)
  // It is a member again: half of the shards come back, under new epochs.
  await stopped.holds(SHARDS + SHARDS / 2)
  await expect.poll(async () => (await written('stopped', before!.id)).length).toBeGreaterThan(0)
  const again = await written('stopped', before!.id)
  expect(again.filter(({ epoch }) => epoch === 1)).toEqual([])
  expect(await epochsThatGoBack()).toEqual([])
})

test('a member stopped inside a writing transaction blocks no takeover, and its write is not recorded', async () => {
  await using stopped = await Member.start('stopped', 'pause')
  await expect.poll(() => stopped.told('inside').length).toBeGreaterThan(SHARDS)
  stopped.signal('SIGSTOP')
  const at = performance.now()
  const before = await written('stopped', 0)
  await using other = await Member.start('other')
  await other.holds(SHARDS)
  expect(performance.now() - at).toBeLessThan(LEASE_MS * 1.25 + 1_500)
  await expect.poll(() => performance.now() - at, { timeout: LEASE_MS * 4 }).toBeGreaterThan(LEASE_MS * 2)
  stopped.signal('SIGCONT')
  await expect.poll(() => stopped.told('abort')).toHaveLength(SHARDS)
  await expect.poll(() => stopped.told('failed').length).toBeGreaterThan(0)
  const after = await written('stopped', 0)
  expect(after.filter(({ epoch }) => epoch === 1)).toEqual(before)
  expect(await epochsThatGoBack()).toEqual([])
})

test('a fence refuses a member whose lease was claimed behind its back', async () => {
  await using member = await Member.start('member')
  await member.holds(SHARDS)
  await expect.poll(() => shardsOf('member')).toHaveLength(SHARDS)
  // As if another member had claimed it, without waiting for its end.
  await pool.query(
    `WITH claimed AS (SELECT kind, number FROM lease WHERE kind = 'shard' AND number = 0 FOR UPDATE)
     UPDATE lease SET owner = 'nobody', epoch = epoch + 1 FROM claimed
     WHERE lease.kind = claimed.kind AND lease.number = claimed.number`,
  )
  const [claimed] = await pool.query<{ id: number }>('SELECT max(id) AS id FROM written')
  await expect.poll(() => member.told('abort').length).toBeGreaterThan(0)
  expect((await written('member', claimed!.id)).filter(({ shard, epoch }) => shard === 0 && epoch === 1)).toEqual([])
})

test('a single task runs at one member; after that is killed another one takes it over, and it never runs at both', async () => {
  const members = [await Member.start('one', 'task', 0), await Member.start('other', 'task', 0)]
  await using _ = members[0]!
  await using __ = members[1]!
  const ran = () => members.map((member) => member.told('ran').length)
  await expect.poll(() => Math.max(...ran())).toBeGreaterThan(5)
  expect(Math.min(...ran())).toBe(0)
  const [killed, next] = ran()[0]! > 0 ? members : members.toReversed()
  killed!.signal('SIGKILL')
  await killed!.exit
  const at = performance.now()
  await expect.poll(() => next!.told('ran').length, { timeout: LEASE_MS * 5, interval: 20 }).toBeGreaterThan(5)
  expect(performance.now() - at).toBeLessThan(LEASE_MS * 1.25 + 1_500)
  expect(await epochsThatGoBack()).toEqual([])
})

test('a single task of a member that leaves goes on at another one within a second, after its run has ended', async () => {
  await using leaving = await Member.start('leaving', 'task', 0)
  await expect.poll(() => leaving.told('ran').length).toBeGreaterThan(5)
  await using other = await Member.start('other', 'task', 0)
  const at = performance.now()
  leaving.signal('SIGTERM')
  await expect.poll(() => other.told('ran').length, { interval: 10 }).toBeGreaterThan(0)
  expect(performance.now() - at).toBeLessThan(1_000)
  expect(await leaving.exit).toBe(0)
  expect(await epochsThatGoBack()).toEqual([])
})

test('a member stopped for twice its lease runs its task no more under the old lease', async () => {
  await using stopped = await Member.start('stopped', 'task', 0)
  await expect.poll(() => stopped.told('ran').length).toBeGreaterThan(5)
  stopped.signal('SIGSTOP')
  await using other = await Member.start('other', 'task', 0)
  await expect.poll(() => other.told('ran').length, { timeout: LEASE_MS * 5 }).toBeGreaterThan(5)
  const before = await written('stopped', 0)
  stopped.signal('SIGCONT')
  const ran = other.told('ran').length
  await expect.poll(() => other.told('ran').length).toBeGreaterThan(ran + 10)
  expect(await written('stopped', 0)).toEqual(before)
  expect(await epochsThatGoBack()).toEqual([])
})

async function ownedBy(member: string): Promise<number[]> {
  const rows = await pool.query<{ number: number }>('SELECT number FROM lease WHERE owner = $1 ORDER BY number', [
    member,
  ])
  return rows.map(({ number }) => number)
}

async function shardsOf(member: string): Promise<number[]> {
  const rows = await pool.query<{ shard: number }>(
    'SELECT DISTINCT shard FROM written WHERE member = $1 ORDER BY shard',
    [member],
  )
  return rows.map(({ shard }) => shard)
}

function written(member: string, after: number): Promise<{ id: number; shard: number; epoch: number }[]> {
  return pool.query('SELECT id, shard, epoch FROM written WHERE member = $1 AND id > $2 ORDER BY id', [member, after])
}

/** Rows of an epoch that come after a row of a later one: two members recorded at once. */
async function epochsThatGoBack(): Promise<object[]> {
  return pool.query(
    `SELECT * FROM (SELECT *, max(epoch) OVER (PARTITION BY shard ORDER BY id) AS latest FROM written) AS ordered
     WHERE epoch < latest ORDER BY id`,
  )
}

class Member implements AsyncDisposable {
  readonly exit: Promise<number | null>
  readonly #process: ChildProcess
  readonly #lines: string[] = []

  private constructor(process: ChildProcess) {
    this.#process = process
    this.exit = once(process, 'close').then(([code]) => code)
    createInterface(process.stdout!).on('line', (line) => this.#lines.push(line))
  }

  static async start(id: string, mode = '', shards = SHARDS): Promise<Member> {
    const program = fileURLToPath(new URL('../testing/member-process.ts', import.meta.url))
    const words = [program, schema.url, schema.schema, id, `${shards}`, `${LEASE_MS}`, mode]
    const member = new Member(spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] }))
    // It has joined.
    await expect.poll(() => pool.query('SELECT id FROM member WHERE id = $1', [id])).toHaveLength(1)
    return member
  }

  /** Shards and epochs, of lines that begin with this word. */
  told(what: string): string[] {
    return this.#lines.filter((line) => line.startsWith(`${what} `))
  }

  /** Resolves when the member has started work on so many shards, and given back what it started too much. */
  async holds(count: number): Promise<void> {
    await expect.poll(() => this.told('start').length - this.told('stop').length, { timeout: LEASE_MS * 5 }).toBe(count)
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.exit
  }
}
