import { afterAll, beforeAll, expect, test } from 'vitest'
import { PostgresServer } from './local-server/postgres-server.ts'
import { migrate } from './migrations.ts'
import { PostgresUnavailableError } from './postgres-connection.ts'
import type { PostgresPool } from './postgres-pool.ts'
import { BreakingProxy } from './testing/breaking-proxy.ts'
import { TestSchema } from './testing/test-schema.ts'

let server: PostgresServer
let schema: TestSchema

beforeAll(async () => {
  server = await PostgresServer.start()
  schema = TestSchema.on(server, 'pool')
  await using pool = schema.pool()
  await pool.query(`CREATE SCHEMA "${schema.schema}"`)
  await pool.query('CREATE TABLE seat (number bigint PRIMARY KEY)')
})

afterAll(() => server[Symbol.asyncDispose]())

test('a transaction that throws leaves nothing, and its connection serves the next one', async () => {
  await using pool = schema.pool({ connections: 1 })
  const failed = pool.transaction(async (queries) => {
    await queries.run('INSERT INTO seat VALUES (1)')
    throw new Error('taken')
  })
  await expect(failed).rejects.toThrow('taken')
  await pool.transaction((queries) => queries.run('INSERT INTO seat VALUES (2)'))
  expect(await seats(pool)).toEqual([2])
})

test('a transaction whose failed statement was ignored does not pass as committed', async () => {
  await using pool = schema.pool()
  const failed = pool.transaction(async (queries) => {
    await queries.run('INSERT INTO seat VALUES (3)')
    await queries.run('INSERT INTO seat VALUES (3)').catch(() => {})
  })
  await expect(failed).rejects.toThrow('rolled the transaction back')
  expect(await seats(pool)).not.toContain(3)
})

test('integers are exact: one beyond 2^53 is an error, not another number', async () => {
  await using pool = schema.pool()
  expect(await pool.query('SELECT 9007199254740991::bigint AS n')).toEqual([{ n: Number.MAX_SAFE_INTEGER }])
  await expect(pool.query('SELECT 9007199254740993::bigint AS n')).rejects.toThrow('beyond 2^53')
})

test('a statement ends after its time, and one that waits for a lock too', async () => {
  await using pool = schema.pool({ timeouts: { statementMs: 300, lockMs: 100 } })
  await expect(pool.query('SELECT pg_sleep(60)')).rejects.toThrow('statement timeout')
  await pool.transaction(async (queries) => {
    await queries.run('LOCK TABLE seat')
    await expect(pool.query('SELECT * FROM seat')).rejects.toThrow('lock timeout')
  })
})

test('a transaction whose process stops holds its locks no longer than the limit', async () => {
  await using pool = schema.pool({ timeouts: { idleInTransactionMs: 200 } })
  const abandoned = await pool.connect()
  await abandoned.rows('BEGIN')
  await abandoned.rows('LOCK TABLE seat')
  expect(await seats(pool)).toEqual([2])
  await expect(abandoned.rows('COMMIT')).rejects.toThrow(PostgresUnavailableError)
  abandoned.release()
})

test('a server that stops answering fails a statement in time; once it answers, the same pool works', async () => {
  await using pool = schema.pool({ connections: 2, timeouts: { answerMs: 300, connectMs: 300 } })
  const connection = await pool.connect()
  const [backend] = await connection.rows<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  process.kill(backend!.pid, 'SIGSTOP')
  try {
    await expect(connection.rows('SELECT 1')).rejects.toThrow(PostgresUnavailableError)
    await expect(connection.rows('SELECT 2'), 'the broken connection is not used again').rejects.toThrow('not answer')
  } finally {
    process.kill(backend!.pid, 'SIGCONT')
    connection.release()
  }
  expect(await pool.query('SELECT 3 AS n')).toEqual([{ n: 3 }])
})

test.each(['stop', 'kill'] as const)('after a %s of the server and its start, the same pool works', async (end) => {
  await using pool = schema.pool({ timeouts: { connectMs: 1_000 } })
  const idle = await Promise.all([pool.connect(), pool.connect(), pool.connect()])
  for (const connection of idle) connection.release()
  const running = await pool.connect()
  const waiting = running.rows('SELECT pg_sleep(60)')
  const settled = expect(waiting).rejects.toThrow(PostgresUnavailableError)
  await server[end]()
  await settled
  running.release()
  await expect(pool.query('SELECT 1')).rejects.toThrow(PostgresUnavailableError)
  await server.start()
  expect(await seats(pool)).toEqual([2])
})

test('a write that a crash of the server lost is not taken for written, though others follow', async () => {
  // The server keeps what it was not asked to commit in memory.
  await using crashing = await PostgresServer.start(undefined, process.pid, ['fsync=off', 'wal_writer_delay=10s'])
  await using proxy = await BreakingProxy.open(crashing.url)
  const theatre = TestSchema.on(proxy, 'crash')
  await using others = TestSchema.on(crashing, theatre.schema).pool()
  await using pool = theatre.pool({ schema: others.schema })
  await migrate(others, [])
  await others.query('CREATE TABLE seat (number bigint PRIMARY KEY)')
  const reserve = (of: PostgresPool, number: number) =>
    of.write((queries) => queries.run('INSERT INTO seat VALUES ($1)', [number]))
  await reserve(pool, 1)
  proxy.next = { message: 'COMMIT', at: 'before', staysAway: true }
  const lost = expect(reserve(pool, 2)).rejects.toThrow(PostgresUnavailableError)
  await expect.poll(() => proxy.isAway).toBe(true)
  await crashing.kill()
  await crashing.start()
  // They get the transaction numbers that the crash took back.
  for (const number of [3, 4, 5]) await reserve(others, number)
  proxy.isAway = false
  await lost
  expect(await seats(others)).toEqual([1, 3, 4, 5])
})

test('a write whose answer is lost is known to be written, or to be lost', async () => {
  await using proxy = await BreakingProxy.open(schema.url)
  await using own = TestSchema.on(proxy, 'doubt')
  await using pool = own.pool()
  await migrate(pool, [])
  await pool.query('CREATE TABLE seat (number bigint PRIMARY KEY)')
  proxy.next = { message: 'COMMIT', at: 'after' }
  expect(await pool.write((queries) => queries.run('INSERT INTO seat VALUES (1)'))).toBe(1)
  proxy.next = { message: 'COMMIT', at: 'before' }
  const lost = pool.write((queries) => queries.run('INSERT INTO seat VALUES (2)'))
  await expect(lost).rejects.toThrow(PostgresUnavailableError)
  expect(await seats(pool)).toEqual([1])
})

test('old tokens of writes are deleted by later writes', async () => {
  await using own = await TestSchema.on(server, 'tokens')
  await using pool = own.pool()
  await migrate(pool, [])
  await pool.query(
    `INSERT INTO write_token (token, at) SELECT gen_random_uuid(), now() - interval '1 day' FROM generate_series(1, 500)`,
  )
  for (let n = 0; n < 100; n++) await pool.write(async () => {})
  expect(await pool.query('SELECT count(*) FROM write_token')).toEqual([{ count: 100 }])
})

async function seats(pool: PostgresPool): Promise<number[]> {
  return (await pool.query<{ number: number }>('SELECT number FROM seat ORDER BY number')).map(({ number }) => number)
}
