import { setTimeout as delay } from 'node:timers/promises'
import { SilentNameServer } from '@millrace/dev-env/silent-name-server'
import { Load } from '../load.ts'
import { Product } from '../product.ts'
import { counted, type Program, seconds } from '../program.ts'
import { addDestination, checkErrors, delivered, makeSource, stopped } from '../set-up.ts'
import { Webhooks } from '../webhooks.ts'

/** In one batch, each of another user: none waits behind another for order's sake. */
const HOSTS_AT_A_TIME = 60
const FETCHES = 10
/** Far more than a loaded machine needs, far less than one lookup that nobody answers (4 s). */
const MAX_MS = 2_000
const DRAIN_MS = 30_000

const FETCHES_EVERYWHERE = `export async function transformEvent(event) {
  const hosts = Array.from({ length: ${FETCHES} }, (_, i) => 'http://code-' + i + '.' + event.userId + '/')
  await Promise.allSettled(hosts.map((host) => fetch(host)))
  return event
}`

/** Names that events, configurations and user code bring, under a name server that never answers. */
export const silentNames: Program = {
  id: 'R4b',
  title: 'a name server that never answers',
  limitSeconds: { short: 120, full: 900 },
  cannotRun: SilentNameServer.obstacle,
  async run(run) {
    using names = await SilentNameServer.start()
    await using webhooks = await Webhooks.open(2)
    // Each of their events needs a new connection, and for it the address of a name.
    webhooks.closesConnections = true
    const product = await Product.start({ folder: run.folder, through: names.command })
    const healthy = await makeSource(
      product,
      webhooks.all.map(({ url }) => url.replace('127.0.0.1', 'localhost')),
    )
    const hostile = await makeSource(product, ['http://127.0.0.1:9/in', 'http://configured.silent.example/in'])
    await addCode(product, await addDestination(product, hostile.sourceId, 'http://127.0.0.1:9/in'))

    const load = new Load(() => ({ url: product.url, writeKey: healthy.writeKey }), { senders: 2, pauseMs: 20 })
    await load.reached(200)
    let [rounds, slowest] = [0, 0]
    const until = performance.now() + run.pick({ short: 20_000, full: 300_000 })
    for (; performance.now() < until && !run.signal.aborted; rounds++) {
      await name(product, hostile.writeKey, rounds)
      slowest = Math.max(slowest, await arrival(load, webhooks))
      run.say(`${rounds} rounds, ${names.questions} questions, slowest delivery ${seconds(slowest)}`)
      await delay(500)
    }
    await load.stop()
    const facts = await delivered(run, webhooks.all, load.acknowledged, DRAIN_MS)
    run.check(slowest <= MAX_MS, `a delivery to a name that is known took ${seconds(slowest)}`)
    run.check(names.questions > HOSTS_AT_A_TIME, `only ${counted(names.questions, 'questions')} were asked`)
    checkErrors(run, product)
    await stopped(run, product)
    return [counted(rounds * HOSTS_AT_A_TIME, 'hosts named'), counted(names.questions, 'questions'), ...facts]
  },
}

async function name(product: Product, writeKey: string, round: number): Promise<void> {
  const batch = Array.from({ length: HOSTS_AT_A_TIME }, (_, i) => {
    const host = `host-${i}.round-${round}.silent.example`
    return { type: 'track', event: 'Steered', userId: host, fullPath: `http://${host}/in` }
  })
  const answer = await fetch(`${product.url}/v1/batch`, { method: 'POST', body: JSON.stringify({ writeKey, batch }) })
  await answer.arrayBuffer()
}

/** How long the event acknowledged last takes until it is at every webhook; at most so long as anybody would wait. */
async function arrival(load: Load, webhooks: Webhooks): Promise<number> {
  const from = performance.now()
  const messageId = load.acknowledged.at(-1)!
  while (webhooks.all.some(({ arrivals }) => arrivals.times(messageId) === 0)) {
    if (performance.now() - from > DRAIN_MS) break
    await delay(5)
  }
  return performance.now() - from
}

async function addCode(product: Product, destinationId: string): Promise<void> {
  const made = { name: 'Everywhere', code: FETCHES_EVERYWHERE }
  const { transformation } = await product.call('POST', '/v2/transformations?publish=true', made)
  await product.call('PATCH', `/v2/destinations/${destinationId}`, { transformationIds: [transformation.id] })
}
