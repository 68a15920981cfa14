import { Load } from '../load.ts'
import { Product } from '../product.ts'
import { counted, type Program } from '../program.ts'
import { checkErrors, delivered, makeSource, stopped } from '../set-up.ts'
import { Webhooks } from '../webhooks.ts'

const SETTLE_MS = 90_000

/** The first webhook is dead until the budget has run over; it then comes back. */
export const backlogBudget: Program = {
  id: 'R11',
  title: 'a dead destination uses the backlog budget up',
  limitSeconds: { short: 240, full: 900 },
  async run(run) {
    await using webhooks = await Webhooks.open(4)
    const [dead, ...healthy] = webhooks.all
    dead!.answer = () => 'reset'
    const budgetMb = run.pick({ short: 4, full: 64 })
    const environment = { MILLRACE_BACKLOG_MAX_MB: `${budgetMb}` }
    const product = await Product.start({ folder: run.folder, environment })
    const { writeKey, destinationIds } = await makeSource(
      product,
      webhooks.all.map(({ url }) => url),
    )
    const [deadId] = destinationIds as [string]
    const load = new Load(() => ({ url: product.url, writeKey }), { fillingBytes: 2_000, eventsPerBatch: 10 })
    const expired = async () => (await product.call('GET', `/v2/destinations/${deadId}/delivery`)).expired as number

    let isNamed = false
    await run.eventually(
      async () => {
        const { json } = await product.answer('GET', '/health')
        isNamed ||= String(json.checks.backlog).includes(deadId)
        run.say(`${load.acknowledged.length} acknowledged, backlog ${json.checks.backlog}`)
        return (await expired()) > 100
      },
      run.pick({ short: 90_000, full: 600_000 }),
      () => 'nothing expired though the budget was used up',
    )
    run.check(isNamed, '/health has not named the destination that holds most')
    await load.reached(load.acknowledged.length + 500)
    await load.stop()
    const facts = await delivered(run, healthy, load.acknowledged, SETTLE_MS)
    run.check(load.refused.length === 0, `${load.refused.length} events were not accepted`)

    run.say('the dead destination comes back')
    dead!.answer = () => 200
    let given = await expired()
    const accounted = async () => {
      given = await expired()
      return dead!.arrivals.events + given
    }
    await run.eventually(
      async () => (await accounted()) === load.acknowledged.length,
      SETTLE_MS,
      () => `${dead!.arrivals.events} came and ${given} expired of ${load.acknowledged.length}`,
    )
    run.check(dead!.arrivals.outOfOrder === 0, `order broken at the one that came back`)
    const metrics = (await product.answer('GET', '/metrics')).text
    const shown = Number(
      new RegExp(`^millrace_expired_total{destination_id="${deadId}"} (\\d+)`, 'm').exec(metrics)?.[1],
    )
    run.check(shown === given, `the metric says ${shown} expired, the state ${given}`)
    const { text } = await product.answer('GET', '/v2/audit-log?limit=100')
    run.check(text.includes(deadId) && /expired|storage budget/.test(text), 'the audit log does not tell of it')
    checkErrors(run, product)
    await stopped(run, product)
    return [
      ...facts,
      counted(given, 'expired of the dead one'),
      counted(dead!.arrivals.events, 'came when it was back'),
    ]
  },
}
