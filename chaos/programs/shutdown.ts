import { setTimeout as delay } from 'node:timers/promises'
import { Load } from '../load.ts'
import { Product } from '../product.ts'
import { counted, type Program, seconds } from '../program.ts'
import { checkErrors, delivered, makeSource, stopped } from '../set-up.ts'
import { Webhooks } from '../webhooks.ts'

const SHUTDOWN_SECONDS = 1
/** Beyond that: closing, on a machine that is busy with the load. */
const CLOSING_MS = 5_000
/** The first event that each of these sends after a start gets no answer. */
const HANGING_USERS = ['user-0', 'user-8', 'user-16']

export const shutdown: Program = {
  id: 'R6',
  title: 'SIGTERM under load, some calls unanswered',
  limitSeconds: { short: 120, full: 900 },
  async run(run) {
    await using webhooks = await Webhooks.open(1)
    const [webhook] = webhooks.all
    const unanswered = new Set<string>()
    let isHanging = true
    let hanging = new Set<string>()
    webhook!.answer = (messageId) => {
      const user = messageId.slice(0, messageId.lastIndexOf('.'))
      if (!isHanging || !HANGING_USERS.includes(user) || unanswered.has(messageId) || hanging.has(user)) return 200
      hanging.add(user)
      unanswered.add(messageId)
      webhook!.arrivals.note(messageId)
      return 'hang'
    }
    const options = { folder: run.folder, environment: { MILLRACE_SHUTDOWN_SECONDS: `${SHUTDOWN_SECONDS}` } }
    let product = await Product.start(options)
    const { writeKey } = await makeSource(product, [webhook!.url])
    let { url } = product
    const load = new Load(() => ({ url, writeKey }), { senders: 6 })
    const stops = run.pick({ short: 3, full: 40 })
    let slowestMs = 0
    for (let i = 0; i < stops && !run.signal.aborted; i++) {
      run.say(`${i} of ${stops} stops, ${load.acknowledged.length} acknowledged`)
      await load.reached(load.acknowledged.length + 500 + Math.floor(run.random() * 1_000))
      await delay(run.random() * 200)
      const from = performance.now()
      await stopped(run, product)
      slowestMs = Math.max(slowestMs, performance.now() - from)
      checkErrors(run, product)
      hanging = new Set()
      isHanging = i < stops - 1
      product = await Product.start(options)
      url = product.url
    }
    await load.stop()
    const facts = await delivered(run, webhooks.all, load.acknowledged, 60_000)
    const needless = webhook!.arrivals.repeated().filter((each) => !unanswered.has(each))
    run.check(
      needless.length === 0,
      `repeated though answered: ${needless.slice(0, 5).join(' ')} of ${needless.length}`,
    )
    run.check(slowestMs <= SHUTDOWN_SECONDS * 1_000 + CLOSING_MS, `a stop took ${seconds(slowestMs)}`)
    await stopped(run, product)
    return [
      counted(stops, 'stops'),
      ...facts,
      counted(unanswered.size, 'unanswered calls'),
      counted(needless.length, 'needless repeats'),
      `slowest stop ${seconds(slowestMs)}`,
    ]
  },
}
