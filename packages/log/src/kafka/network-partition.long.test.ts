import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testRecord } from '../conformance.ts'
import type { KafkaCluster } from '../kafka-brokers/index.ts'
import { AppendLoad } from './testing/append-load.ts'
import { newPrefix, openLog, startKafka } from './testing/test-kafka.ts'

/*
 * A broker in a network namespace of its own, at the other end of a virtual cable. With the cable down packets vanish: no
 * connection is refused or reset, as between two machines.
 */

const ID = process.pid % 50_000
const NAMESPACE = `millrace-${ID}`
const CABLE = `mr${ID}`
const SUBNET = `10.${200 + (ID % 50)}.${ID % 250}`
const mayUseNamespaces = canUseNamespaces()

let kafka: KafkaCluster
beforeAll(async () => {
  if (!mayUseNamespaces) return
  ip('netns', 'add', NAMESPACE)
  ip('link', 'add', CABLE, 'type', 'veth', 'peer', 'name', `${CABLE}p`, 'netns', NAMESPACE)
  ip('addr', 'add', `${SUBNET}.1/24`, 'dev', CABLE)
  ip('link', 'set', CABLE, 'up')
  ip('-n', NAMESPACE, 'addr', 'add', `${SUBNET}.2/24`, 'dev', `${CABLE}p`)
  for (const device of [`${CABLE}p`, 'lo']) ip('-n', NAMESPACE, 'link', 'set', device, 'up')
  kafka = await startKafka({ brokers: 1, host: `${SUBNET}.2`, within: ['ip', 'netns', 'exec', NAMESPACE] })
})
afterAll(async () => {
  await kafka?.[Symbol.asyncDispose]()
  if (mayUseNamespaces) ip('netns', 'delete', NAMESPACE)
})

test.skipIf(!mayUseNamespaces)(
  'with the network cut three times under appends: refused within 11 s, back by itself, and no acknowledged record is lost',
  async () => {
    const prefix = newPrefix()
    await using log = await openLog(kafka, { prefix, partitions: 4 })
    const load = new AppendLoad(log, 8)
    for (let cut = 0; cut < 3; cut++) {
      await load.progress(300)
      ip('link', 'set', CABLE, 'down')
      const cutAt = performance.now()
      await expect.poll(() => log.trouble(), { timeout: 15_000 }).toBeDefined()
      expect(performance.now() - cutAt).toBeLessThan(11_000)
      await expect(log.check()).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
      ip('link', 'set', CABLE, 'up')
    }
    await load.progress(300)
    await load.stop()
    await using reader = await openLog(kafka, { prefix })
    expect(await load.brokenPromises(reader)).toEqual([])
    expect(load.longestMs).toBeLessThan(11_000)
  },
)

test.skipIf(!mayUseNamespaces)('a follower cut off reads on when the network is back', async () => {
  const prefix = newPrefix()
  await using log = await openLog(kafka, { prefix })
  await log.follow(0)
  await log.append(0, 'live', testRecord('source-a', 'before'))
  ip('link', 'set', CABLE, 'down')
  await expect.poll(() => log.followTrouble(), { timeout: 15_000 }).toBeDefined()
  ip('link', 'set', CABLE, 'up')
  await expect.poll(() => log.followTrouble(), { timeout: 30_000 }).toBeUndefined()
  await using other = await openLog(kafka, { prefix })
  await other.append(0, 'live', testRecord('source-a', 'after'))
  await expect.poll(() => log.end(0)).toBe(2)
})

function ip(...parts: string[]): void {
  execFileSync('ip', parts, { stdio: 'pipe' })
}

function canUseNamespaces(): boolean {
  try {
    ip('netns', 'add', `${NAMESPACE}-try`)
    ip('netns', 'delete', `${NAMESPACE}-try`)
    return true
  } catch {
    return false
  }
}
