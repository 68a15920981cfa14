import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { systemClock } from '@millrace/std'
import { afterEach, expect, test } from 'vitest'
import { type StretchTime, StretchTimer } from './stretch-timer.ts'

// Promises of contracts/transformations.md §8 [D436].

const LIMIT_MS = 100
const WALL_MS = 600_000

const started: ChildProcess[] = []
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})

function processOf(command: string, ...args: string[]): number {
  const child = spawn(command, args, { stdio: 'ignore' })
  started.push(child)
  return child.pid!
}

/** @returns what a stretch took that ended at its limit. */
async function over(pid: number | undefined): Promise<StretchTime> {
  const timer = new StretchTimer(systemClock, pid)
  await new Promise<void>((resolve) => timer.begin({ computeMs: LIMIT_MS, wallMs: WALL_MS }, resolve))
  return timer.last
}

test.each([
  ['that computes', () => processOf('sh', '-c', 'while :; do :; done')],
  ['that sleeps', () => processOf('sleep', '600')],
  ['of which the system tells nothing', () => undefined],
])('a process %s reaches its limit, and no later than its waits for a processor allow', async (_, start) => {
  const { ms, waitedMs } = await over(start())
  expect(ms - waitedMs).toBeGreaterThanOrEqual(LIMIT_MS)
  expect(ms - waitedMs).toBeLessThan(WALL_MS / 10)
})

test('where the system tells nothing there are no waits', async () => {
  expect((await over(undefined)).waitedMs).toBe(0)
})

test('a reply that is there before a late server looks at the limit counts', async () => {
  await using server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [socket] = (await accepted) as [Socket]
  const timer = new StretchTimer(systemClock, undefined)
  const outcome = await new Promise((resolve) => {
    socket.once('data', () => {
      timer.replied()
      resolve('replied')
    })
    timer.begin({ computeMs: 1, wallMs: 1 }, () => resolve('over'))
    client.write('reply')
    for (const end = performance.now() + 20; performance.now() < end; );
  })
  client.destroy()
  socket.destroy()
  expect(outcome).toBe('replied')
})
