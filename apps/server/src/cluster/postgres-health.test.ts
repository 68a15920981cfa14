import { type AddressInfo, createServer, type Socket } from 'node:net'
import { PostgresPool } from '@millrace/postgres'
import { ManualClock } from '@millrace/std'
import { expect, test } from 'vitest'
import { PostgresHealth } from './postgres-health.ts'

test('a Postgres that accepts connections and says nothing is told after 3 s, with one connection for all who ask', async () => {
  const sockets: Socket[] = []
  const silent = createServer((socket) => sockets.push(socket))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port } = silent.address() as AddressInfo
  const pool = new PostgresPool({
    ...{ url: `postgres://u@127.0.0.1:${port}/d`, schema: 's', connections: 4, applicationName: 'test' },
    logger: { warn: () => {} },
    timeouts: { connectMs: 60_000 },
  })
  const clock = new ManualClock(0)
  const health = new PostgresHealth(pool, clock)
  const asked = [health.trouble(), health.trouble()]
  await expect.poll(() => sockets.length).toBe(1)
  await clock.advance(3_000)
  expect(await Promise.all(asked)).toEqual(Array(2).fill('Postgres does not answer within 3 s'))
  expect(sockets).toHaveLength(1)
  for (const socket of sockets) socket.destroy()
  silent.close()
  await pool.end()
})
