import path from 'node:path'
import { FORGERIES } from '@millrace/transformations/testing/forgeries'
import { Load } from '../load.ts'
import { Product } from '../product.ts'
import { counted, type Program } from '../program.ts'
import { checkErrors, delivered, makeSource, shuffled, stopped } from '../set-up.ts'
import { Webhooks } from '../webhooks.ts'

const TEST_COMPOSITION = path.join(path.dirname(import.meta.dirname), 'test-composition/main.ts')
/** Of a user with a forging event: it, and what comes after it. */
const EVENTS_OF_USER = 4
const SYNC_MS = 500
const DEAD_MS = 600_000
const DRAIN_MS = 60_000
const CODE = 'export const transformEvent = (event) => event'
const REASON = /^(Sandbox sent an invalid message|Timed out|Sandbox lost|Memory limit exceeded)$/

/** Code that has left its sandbox and speaks in the name of its process. */
export const forgedMessages: Program = {
  id: 'R5b',
  title: 'processes of user code that forge what they say',
  limitSeconds: { short: 420, full: 1_800 },
  async run(run) {
    await using webhooks = await Webhooks.open(3)
    const environment = { MILLRACE_TRANSFORM_SYNC_MS: `${SYNC_MS}` }
    const product = await Product.start({ folder: run.folder, environment, entry: TEST_COMPOSITION })
    // The first has no code, the second shares its processes with the third, which forges.
    const [plain, innocent, forging] = webhooks.all
    const harmless = await makeSource(product, [plain!.url, innocent!.url])
    const hostile = await makeSource(product, [forging!.url])
    for (const destinationId of [harmless.destinationIds[1]!, hostile.destinationIds[0]!])
      await addCode(product, destinationId)
    const load = new Load(() => ({ url: product.url, writeKey: harmless.writeKey }), { senders: 2, pauseMs: 20 })
    await load.reached(100)

    const names = shuffled(Object.keys(FORGERIES), run.random).slice(0, run.pick({ short: 12, full: undefined }))
    const users: string[][] = []
    for (let round = 0; round < run.pick({ short: 1, full: 2 }); round++) {
      for (const [n, forge] of names.entries())
        users.push(await sendUser(product, hostile.writeKey, `${round}-${n}`, forge))
    }
    const letters = async (): Promise<{ messageId: string; reason: string }[]> => {
      return (await product.call('GET', '/v2/dead-letters?limit=500')).deadLetters
    }
    let dead: Awaited<ReturnType<typeof letters>> = []
    await run.eventually(
      async () => {
        dead = await letters()
        run.say(`${dead.length} of ${users.length} forging events are dead letters`)
        return dead.length >= users.length
      },
      DEAD_MS,
      () => `${users.length - dead.length} forging events are no dead letters`,
    )
    await load.stop()

    for (const { messageId, reason } of dead) {
      run.check(
        users.some(([first]) => first === messageId),
        `${messageId} died of ${reason}`,
      )
      run.check(REASON.test(reason), `${messageId} died of ${reason}`)
    }
    const facts = await delivered(run, [plain!, innocent!], load.acknowledged, DRAIN_MS)
    const later = users.flatMap(([, ...others]) => others)
    await delivered(run, [forging!], later, DRAIN_MS)
    run.check(product.isRunning, 'the product ended')
    const { status } = await product.answer('GET', '/ready')
    run.check(status === 200, `/ready was answered ${status}`)
    checkErrors(run, product)
    await stopped(run, product)
    return [counted(users.length, 'forgeries'), ...facts]
  },
}

async function addCode(product: Product, destinationId: string): Promise<void> {
  const { transformation } = await product.call('POST', '/v2/transformations?publish=true', {
    name: 'Same',
    code: CODE,
  })
  await product.call('PATCH', `/v2/destinations/${destinationId}`, { transformationIds: [transformation.id] })
}

/** @returns the messageIds of a new user; with the first, the process of its code forges. */
async function sendUser(product: Product, writeKey: string, userId: string, forge: string): Promise<string[]> {
  const messageIds = Array.from({ length: EVENTS_OF_USER }, (_, i) => `forger-${userId}.${i + 1}`)
  const batch = messageIds.map((messageId, i) => {
    return { type: 'track', event: 'Seat Reserved', userId, messageId, properties: i === 0 ? { forge } : {} }
  })
  const answer = await fetch(`${product.url}/v1/batch`, { method: 'POST', body: JSON.stringify({ writeKey, batch }) })
  if (answer.status !== 200) throw new Error(`the events of ${userId} were answered ${answer.status}`)
  return messageIds
}
