import { setTimeout as delay } from 'node:timers/promises'
import { Load } from '../load.ts'
import { Product } from '../product.ts'
import { counted, type Program, seconds } from '../program.ts'
import { checkErrors, delivered, makeSource, stopped } from '../set-up.ts'
import { Webhooks } from '../webhooks.ts'

const MB = 1024 * 1024
/** No budget gives anything up, and little is held in memory by right. */
const ENVIRONMENT = { MILLRACE_BACKLOG_MAX_MB: '0', MILLRACE_DELIVERY_MEMORY_MB: '32' }
const SAMPLE_MS = 250
/** Of the memory that it had once a quarter was sent: what it takes to work at all is there then, the more so the longer the run. */
const MAX_GROWTH = { short: 2, full: 1.3 }
/** A breaker rests 30 s between probes. */
const DRAIN_MS = { short: 120_000, full: 1_800_000 }

/** contracts/delivery.md §12 item 27: memory does not grow with what waits. */
export const waiting: Program = {
  id: 'R11b',
  title: 'a million events wait for one dead destination beside nine healthy ones',
  limitSeconds: { short: 240, full: 5_400 },
  async run(run) {
    await using webhooks = await Webhooks.open(10)
    const [dead, ...healthy] = webhooks.all
    dead!.answer = () => 'reset'
    const product = await Product.start({ folder: run.folder, environment: ENVIRONMENT })
    const { writeKey } = await makeSource(
      product,
      webhooks.all.map(({ url }) => url),
    )
    const events = run.pick({ short: 10_000, full: 1_000_000 })
    // So that those of a short run would be seen in memory, too.
    const fillingBytes = run.pick({ short: 8_000, full: 0 })
    const load = new Load(() => ({ url: product.url, writeKey }), {
      usersPerSender: 250,
      eventsPerBatch: 20,
      events,
      fillingBytes,
    })
    const residentBytes: number[] = []
    let early = 0
    let isOver = false
    const sampling = (async () => {
      while (!isOver && product.isRunning && !run.signal.aborted) {
        const now = product.residentBytes
        if (load.acknowledged.length < events / 4) early = Math.max(early, now)
        else residentBytes.push(now)
        run.say(`${load.acknowledged.length} of ${events} acknowledged, ${Math.round(now / MB)} MB`)
        await delay(SAMPLE_MS)
      }
    })()
    await load.ended
    const facts = await delivered(run, healthy, load.acknowledged, DRAIN_MS[run.size])
    run.check(load.acknowledged.length >= events, `${load.refused.length} events were not accepted`)

    const from = performance.now()
    dead!.answer = () => 200
    await delivered(run, [dead!], load.acknowledged, DRAIN_MS[run.size])
    const tookMs = performance.now() - from
    isOver = true
    await sampling
    const most = Math.max(...residentBytes)
    const figures = `${Math.round(early / MB)} MB at a quarter, ${Math.round(most / MB)} MB at most`
    run.check(most <= MAX_GROWTH[run.size] * early, `memory grew: ${figures}`)
    checkErrors(run, product)
    await stopped(run, product)
    const cameBack = `${counted(dead!.arrivals.events, 'waited')} and came within ${seconds(tookMs)}`
    return [...facts, cameBack, counted(dead!.arrivals.outOfOrder, 'of them out of order'), figures]
  },
}
