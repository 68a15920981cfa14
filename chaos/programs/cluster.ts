import { setTimeout as delay } from 'node:timers/promises'
import { Cluster, type ClusterOptions } from '../cluster/cluster.ts'
import { cutOffGateway, cutOffPipeline, type Fault, kills, pause, tooManyRepeats } from '../cluster/faults.ts'
import { PrivateNetwork } from '../cluster/private-network.ts'
import { Traffic } from '../cluster/traffic.ts'
import { counted, type Program, type Run, seconds } from '../program.ts'
import { addDestination, countedByCatalog, delivered } from '../set-up.ts'
import { Webhooks } from '../webhooks.ts'

const SOURCES = 4
const LEASE_MS = { short: 3_000, full: 6_000 }
/** In the short form, each part once. */
const KILLS = { short: 6, full: 20 }
/** Until all is as before the fault, and what was acknowledged by then is delivered. */
const BACK_MS = 90_000
const DRAIN_MS = 120_000
const LOOK_AGAIN_MS = 200

/** Kills one part after the other while several sources send, each through all gateways. */
export const cluster: Program = {
  id: 'cluster',
  title: 'kills, a pause and cut networks under the load of a cluster',
  limitSeconds: { short: 180, full: 1_800 },
  cannotRun: () => Cluster.obstacle(),
  run: (run) => breakCluster(run, {}),
}

export async function breakCluster(run: Run, more: Pick<ClusterOptions, 'previous'>): Promise<readonly string[]> {
  const leaseMs = run.pick(LEASE_MS)
  run.say('the cluster starts')
  await using parts = await Cluster.start({ folder: run.folder, leaseMs, ...more })
  await using webhooks = await Webhooks.open(2, parts.network?.webhooks)
  const writeKeys = await makeSources(parts, webhooks)
  const traffic = new Traffic(writeKeys, parts.of('gateway'), webhooks.all)
  await isBack(run, parts, traffic, 'the start')

  const ground = { run, cluster: parts, leaseMs }
  const longer = () => [pause(ground), ...cutOffPipeline(ground), ...cutOffGateway(ground)]
  const faults = [...kills(ground, run.pick(KILLS)), ...(run.size === 'full' ? longer() : [])]
  let slowestMs = 0
  for (const [n, fault] of faults.entries()) {
    if (run.signal.aborted) break
    run.say(`${n + 1} of ${faults.length}: ${fault.name}, ${counted(traffic.acknowledged, 'acknowledged')}`)
    slowestMs = Math.max(slowestMs, await survived(run, parts, traffic, fault))
  }

  const acknowledged = await traffic.stop()
  // An event of a request that was not answered, or answered 503, may be stored, and later than the next ones. [K7]
  const promised = new Set(acknowledged)
  const facts = await delivered(run, webhooks.all, acknowledged, DRAIN_MS, (id) => !promised.has(id))
  const stored = () => webhooks.all.map(({ arrivals }) => arrivals.events)
  await run.eventually(
    () => new Set(stored()).size === 1,
    DRAIN_MS,
    () => `the destinations have ${stored().join(', ')} events`,
  )
  const { product } = parts.of('control')[0]!
  let inCatalog = 0
  await run.eventually(
    async () => {
      inCatalog = await countedByCatalog(product)
      return inCatalog === stored()[0]
    },
    DRAIN_MS,
    () => `the catalog has counted ${inCatalog} events, delivered were ${stored()[0]}`,
  )
  for (const member of parts.members) {
    run.check(member.endings === 0, `${member.name} ended by itself`)
    const code = await member.stop()
    run.check(code === 0, `exit code ${code} of ${member.name}`)
  }
  const noNetwork = run.size === 'full' ? PrivateNetwork.obstacle() : undefined
  return [
    counted(faults.length, 'faults'),
    ...(noNetwork === undefined ? [] : [`no cut networks: ${noNetwork}`]),
    `slowest return ${seconds(slowestMs)}`,
    ...facts,
    counted(inCatalog, 'in the catalog'),
    `answers ${[...traffic.statuses].map(([status, count]) => `${status || 'none'} × ${count}`).join(', ')}`,
  ]
}

/** Carries out a fault and waits until all is as before. @returns how long that took from its end on. */
async function survived(run: Run, parts: Cluster, traffic: Traffic, fault: Fault): Promise<number> {
  const before = traffic.webhooks.map(({ arrivals }) => arrivals.repeats)
  await fault.happen()
  const overAt = performance.now()
  await isBack(run, parts, traffic, fault.name)
  const tookMs = performance.now() - overAt
  for (const [n, { arrivals }] of traffic.webhooks.entries()) {
    const wrong = tooManyRepeats(fault, arrivals.repeats - before[n]!)
    run.check(wrong === undefined, wrong ?? '')
  }
  return tookMs
}

/** Every process works, every shard has an owner, each pipeline has its share, and events are accepted and delivered. */
async function isBack(run: Run, parts: Cluster, traffic: Traffic, after: string): Promise<void> {
  const mark = traffic.mark()
  let missing = ''
  await run.eventually(
    async () => {
      missing = (await missingParts(parts, traffic, mark)) ?? ''
      // The processes share the cores with these questions.
      if (missing !== '') await delay(LOOK_AGAIN_MS)
      return missing === ''
    },
    BACK_MS,
    () => `not back after ${after}: ${missing}`,
  )
}

async function missingParts(parts: Cluster, traffic: Traffic, mark: readonly number[]): Promise<string | undefined> {
  if (!traffic.isDelivered(mark)) return 'acknowledged events are not delivered'
  if (!traffic.hasMoved(mark)) return 'a source has no event acknowledged'
  for (const member of parts.members) {
    const trouble = await member.trouble()
    if (trouble !== undefined) return `${member.name} says ${trouble}`
  }
  const shares = await Promise.all(parts.of('pipeline').map((member) => member.metric('millrace_shards_owned')))
  const share = SOURCES / shares.length
  return shares.every((each) => each === share) ? undefined : `the pipelines own ${shares.join(' and ')} shards`
}

/** Each in a partition of its own, all connected to both webhooks. @returns their write keys. */
async function makeSources(parts: Cluster, webhooks: Webhooks): Promise<string[]> {
  const { product } = parts.of('control')[0]!
  const [first, ...others] = await Promise.all(
    Array.from({ length: SOURCES }, (_, n) => product.call('POST', '/v2/sources', { name: `Load ${n}`, type: 'HTTP' })),
  )
  for (const { url } of webhooks.all) {
    const destinationId = await addDestination(product, first.source.id, url)
    for (const { source } of others) {
      await product.call('POST', '/v2/connections', { sourceId: source.id, destinationId })
    }
  }
  return [first, ...others].map(({ source }) => source.writeKey)
}
