import { setTimeout as delay } from 'node:timers/promises'
import type { EndMessage } from '../end-threads.ts'
import { Load } from '../load.ts'
import { Product } from '../product.ts'
import { counted, type Program, type Run, seconds } from '../program.ts'
import { delivered, makeSource, stopped } from '../set-up.ts'
import { Webhooks } from '../webhooks.ts'

const MAX_UP_MS = 2_000
const MAX_END_MS = 5_000
const DRAIN_MS = 180_000
const FAULT_EXIT_CODE = 70
const LAST_LINE = /^Millrace ended: .*\. All acknowledged events are on disk; start it again\.$/

const ENVIRONMENT = { MILLRACE_UNCLEAN_ENDS: '0' }

/** Those that write or deliver, and what nothing catches: the process ends. */
const FAULTS: readonly EndMessage[] = [
  { end: 'log' },
  { end: 'delivery' },
  { end: 'catalog' },
  { end: 'delivery-2' },
  { throwUnhandled: 'exception' },
  { throwUnhandled: 'rejection' },
]
/** Those that only read: they start again. */
const READERS: readonly EndMessage[] = [{ end: 'log-back' }, { end: 'events' }, { end: 'replays' }]

/** What one run of the product showed as delivered, and how often it had come by then. */
type Shown = ReadonlyMap<string, number>

export const threads: Program = {
  id: 'R13',
  title: 'threads that end under load',
  limitSeconds: { short: 240, full: 2_400 },
  threads: 2,
  async run(run) {
    await using webhooks = await Webhooks.open(2)
    const [watched] = webhooks.all as [Hook, Hook]
    // Ends of this kind come more often here than an operator's supervisor would see them; one at a time is a run of its own.
    const start = () => Product.start({ folder: run.folder, environment: ENVIRONMENT, canBeTold: true })
    let product = await start()
    const { writeKey } = await makeSource(
      product,
      webhooks.all.map(({ url }) => url),
    )
    let { url } = product
    const load = new Load(() => ({ url, writeKey }), { pauseMs: 5 })
    let ends = 0
    let readerEnds = 0
    let slowestMs = 0
    for (const most = run.pick({ short: 10, full: 100 }); ends < most && !run.signal.aborted; ends++) {
      run.say(`${ends} of ${most} ends, ${load.acknowledged.length} acknowledged`)
      await load.reached(load.acknowledged.length + 20)
      await delay(run.random() * MAX_UP_MS)
      readerEnds += await endReader(run, product, READERS[ends % READERS.length]!)
      const shown = await shownDelivered(product, watched, load)
      const toldAt = performance.now()
      product.tell(FAULTS[ends % FAULTS.length]!)
      const code = await product.exited
      slowestMs = Math.max(slowestMs, performance.now() - toldAt)
      run.check(code === FAULT_EXIT_CODE, `exit code ${code} after ${JSON.stringify(FAULTS[ends % FAULTS.length])}`)
      run.check(LAST_LINE.test(product.lines.at(-1) ?? ''), `its last line was ${product.lines.at(-1)}`)
      product = await start()
      url = product.url
      await load.reached(load.acknowledged.length + 20)
      checkShown(run, watched, shown)
    }
    await load.stop()
    run.check(slowestMs <= MAX_END_MS, `an end took ${seconds(slowestMs)}`)
    const facts = await delivered(run, webhooks.all, load.acknowledged, DRAIN_MS)
    await stopped(run, product)
    return [counted(ends, 'ends'), counted(readerEnds, 'of readers'), `slowest ${seconds(slowestMs)}`, ...facts]
  },
}

type Hook = Webhooks['all'][number]

/** Ends a thread that reads while it is used. @returns how many were. */
async function endReader(run: Run, product: Product, message: EndMessage): Promise<number> {
  const list = () => product.answer('GET', '/v2/events?limit=1')
  const before = list()
  product.tell(message)
  // The one that was under way may fail; the next ones are answered by a new thread.
  await before.catch(() => {})
  const isAnswered = await run.eventually(
    async () => (await list()).status === 200,
    MAX_END_MS,
    () => `no list of events after ${JSON.stringify(message)}`,
  )
  return isAnswered ? 1 : 0
}

/** Some of the newest events that are shown as delivered. */
async function shownDelivered(product: Product, { arrivals }: Hook, load: Load): Promise<Shown> {
  const shown = new Map<string, number>()
  for (const messageId of load.acknowledged.slice(-200).filter((_, i) => i % 20 === 0)) {
    const { status, json } = await product.answer('GET', `/v2/events/${messageId}`)
    if (status !== 200) continue
    const journeys: { outcome: string }[] = json.events[0].destinations
    if (journeys.every(({ outcome }) => outcome === 'delivered')) shown.set(messageId, arrivals.times(messageId))
  }
  return shown
}

/** What was shown as delivered was on disk, so it does not come again. */
function checkShown(run: Run, { arrivals }: Hook, shown: Shown): void {
  for (const [messageId, times] of shown) {
    run.check(arrivals.times(messageId) === times, `${messageId} was shown as delivered, and came again`)
  }
}
