import { setTimeout as delay } from 'node:timers/promises'
import { Load } from '../load.ts'
import { Product } from '../product.ts'
import { counted, type Program, type Run } from '../program.ts'
import { checkErrors, countedByCatalog, delivered, makeSource, stopped } from '../set-up.ts'
import { Webhooks } from '../webhooks.ts'

const MAX_UP_MS = 1_500
const STARTING_KILLS = 0.2
/** Per kill and destination: outcomes that were not on disk, and calls in flight. */
const MAX_REPEATS = 1_000 + 100
const DRAIN_MS = 120_000
/** Kills come at any moment and say nothing of the event at hand, which would end as a dead letter: that is R13's. */
const ENVIRONMENT = { MILLRACE_UNCLEAN_ENDS: '0' }

/** The third webhook fails each user's seventh event once, so that retries meet kills; the second answers late now and then. */
export const kill: Program = {
  id: 'R1',
  title: 'kill -9 under load',
  limitSeconds: { short: 180, full: 1_800 },
  async run(run) {
    await using webhooks = await Webhooks.open(3)
    const [steady, slow, failing] = webhooks.all as [Hook, Hook, Hook]
    slow.answer = () => (run.random() < 0.02 ? delay(run.random() * 100, 200) : 200)
    const failed = new Set<string>()
    failing.answer = (messageId) => {
      if (!messageId.endsWith('.7') || failed.has(messageId)) return 200
      failed.add(messageId)
      return 500
    }

    let product = await Product.start({ folder: run.folder, environment: ENVIRONMENT })
    const { writeKey } = await makeSource(
      product,
      webhooks.all.map(({ url }) => url),
    )
    let { url } = product
    const load = new Load(() => ({ url, writeKey }), { pauseMs: 10 })
    let kills = 0
    for (const most = run.pick({ short: 8, full: 200 }); kills < most && !run.signal.aborted; ) {
      run.say(`${kills} of ${most} kills, ${load.acknowledged.length} acknowledged`)
      await delay(run.random() * MAX_UP_MS)
      checkErrors(run, product)
      await product.kill()
      kills++
      if (run.random() < STARTING_KILLS) {
        await killWhileStarting(run)
        kills++
      }
      product = await Product.start({ folder: run.folder, environment: ENVIRONMENT })
      url = product.url
    }
    await load.reached(load.acknowledged.length + 100)
    await load.stop()
    const facts = await delivered(run, webhooks.all, load.acknowledged, DRAIN_MS)

    // Whatever is stored, acknowledged or not, comes everywhere and is counted once.
    const stored = () => webhooks.all.map(({ arrivals }) => arrivals.events)
    await run.eventually(
      () => new Set(stored()).size === 1,
      DRAIN_MS,
      () => `the destinations have ${stored().join(', ')} events`,
    )
    let inCatalog = 0
    await run.eventually(
      async () => {
        inCatalog = await countedByCatalog(product)
        return inCatalog === steady.arrivals.events
      },
      DRAIN_MS,
      () => `the catalog has counted ${inCatalog} events, delivered were ${steady.arrivals.events}`,
    )
    const repeats = webhooks.all.map(({ arrivals }) => arrivals.repeats)
    run.check(Math.max(...repeats) <= kills * MAX_REPEATS, `${Math.max(...repeats)} repeats at one destination`)
    checkErrors(run, product)
    await stopped(run, product)
    return [counted(kills, 'kills'), ...facts, counted(inCatalog, 'in the catalog')]
  },
}

type Hook = Webhooks['all'][number]

async function killWhileStarting(run: Run): Promise<void> {
  const product = new Product({ folder: run.folder, environment: ENVIRONMENT })
  await delay(run.random() * MAX_UP_MS)
  await product.kill()
}
