import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { Load } from '../load.ts'
import { Product } from '../product.ts'
import { counted, type Program, type Run } from '../program.ts'
import { delivered, makeSource, shuffled, stopped } from '../set-up.ts'
import { Webhooks } from '../webhooks.ts'

/** Of a user with a poison event: it, and what comes after it. */
const EVENTS_OF_USER = 6
/** A run of user code; the default would only take longer. */
const SYNC_MS = 1_000
/** One that is refused by itself is so after its third attempt, half a minute later. */
const DEAD_MS = 240_000
const DRAIN_MS = 60_000
/** Longer than a sandbox takes to begin again, so that no event meets three of these. */
const BETWEEN_KILLS_MS = 4_000

interface Poison {
  readonly kind: string
  /** Which webhook, or the user code before it, cannot bear it. */
  readonly webhook: number
  readonly stage: 'user_transformation' | 'delivery'
  readonly reason: RegExp
}

/** Webhook 0 bears everything. */
const WITH_CODE = 1
const REFUSING = 2
const FORBIDDING = 3

const POISONS: readonly Poison[] = [
  { kind: 'throw', webhook: WITH_CODE, stage: 'user_transformation', reason: /no such hall/ },
  { kind: 'loop', webhook: WITH_CODE, stage: 'user_transformation', reason: /^Timed out/ },
  // On a busy machine time runs out before memory does.
  { kind: 'memory', webhook: WITH_CODE, stage: 'user_transformation', reason: /^(Memory limit exceeded|Timed out)/ },
  { kind: 'flood', webhook: WITH_CODE, stage: 'user_transformation', reason: /too many events returned/ },
  { kind: 'refuse', webhook: REFUSING, stage: 'delivery', reason: /^answered 400$/ },
  { kind: 'forbid', webhook: FORBIDDING, stage: 'delivery', reason: /^refused$/ },
]

const CODE = `export function transformEvent(event) {
  const [kind] = event.messageId.endsWith('.1') ? event.messageId.split('-') : ['none']
  if (kind === 'throw') throw new Error('no such hall')
  if (kind === 'loop') for (;;) {}
  if (kind === 'memory') for (const kept = []; ; ) kept.push(new Array(1000000).fill(1.5))
  if (kind === 'flood') return Array.from({ length: 2000 }, () => event)
  return event
}`

/** User code that crashes or is killed, destinations that refuse one event for ever. */
export const poison: Program = {
  id: 'R5',
  title: 'poison events for user code and destinations, sandboxes killed',
  limitSeconds: { short: 420, full: 1_800 },
  async run(run) {
    await using webhooks = await Webhooks.open(4)
    refuse(webhooks, REFUSING, 'refuse', 400)
    refuse(webhooks, FORBIDDING, 'forbid', 403)
    const environment = { MILLRACE_TRANSFORM_SYNC_MS: `${SYNC_MS}` }
    const product = await Product.start({ folder: run.folder, environment })
    const urls = webhooks.all.map(({ url }) => url)
    const { writeKey, destinationIds } = await makeSource(product, urls)
    await addCode(product, destinationIds[WITH_CODE]!)
    // It goes on to the end: others are accepted between two refusals of the forbidden ones.
    const load = new Load(() => ({ url: product.url, writeKey }), { senders: 2, pauseMs: 20 })
    await load.reached(200)

    const users = run.pick({ short: 2, full: 20 })
    const sent: { poison: Poison; messageIds: string[] }[] = []
    for (let n = 0; n < users; n++) {
      for (const each of shuffled(POISONS, run.random)) {
        sent.push({ poison: each, messageIds: await sendUser(product, writeKey, `${each.kind}-${n}`) })
      }
    }
    const expected = sent.map(({ poison: { webhook }, messageIds }) => `${destinationIds[webhook]} ${messageIds[0]}`)
    const killed = await killSandboxes(run, product, run.pick({ short: 3, full: 40 }))
    let dead: DeadLetter[] = []
    await run.eventually(
      async () => {
        dead = (await product.call('GET', '/v2/dead-letters?limit=500')).deadLetters
        run.say(`${dead.length} of ${expected.length} poison events are dead letters`)
        return expected.every((each) => dead.some((letter) => nameOf(letter) === each))
      },
      DEAD_MS,
      () => `${expected.length - dead.length} poison events are no dead letters`,
    )
    await load.stop()
    judge(run, dead, sent, expected, killed)

    const later = sent.flatMap(({ messageIds }) => messageIds.slice(1))
    const facts = await delivered(run, webhooks.all, [...load.acknowledged, ...later], DRAIN_MS)
    for (const { poison: each, messageIds } of sent) {
      for (const [i, { arrivals }] of webhooks.all.entries()) {
        const isWanted = i !== each.webhook
        const isHere = arrivals.times(messageIds[0]!) > 0
        run.check(isHere === isWanted, `${messageIds[0]} ${isHere ? 'came to' : 'is missing at'} webhook ${i}`)
      }
    }
    run.check(product.isRunning, 'the product ended')
    run.check(product.errors.length === 0, `${product.errors.length} errors in the log, such as ${product.errors[0]}`)
    await stopped(run, product)
    return [counted(sent.length, 'poison events'), counted(killed, 'sandboxes killed'), ...facts]
  },
}

interface DeadLetter {
  readonly messageId: string
  readonly destinationId: string
  readonly stage: string
  readonly reason: string
}

function nameOf({ destinationId, messageId }: DeadLetter): string {
  return `${destinationId} ${messageId}`
}

/** @param killed sandboxes: each may have been the one of a poison event's last attempt, which is then its reason. */
function judge(
  run: Run,
  dead: readonly DeadLetter[],
  sent: readonly { poison: Poison; messageIds: string[] }[],
  expected: readonly string[],
  killed: number,
): void {
  const others = dead.filter((letter) => !expected.includes(nameOf(letter)))
  run.check(
    others.length === 0,
    `${others.length} others died, such as ${others[0]?.messageId} of ${others[0]?.reason}`,
  )
  let lost = 0
  for (const { poison: each, messageIds } of sent) {
    const letter = dead.find(({ messageId }) => messageId === messageIds[0])
    const isOfKill = each.webhook === WITH_CODE && letter?.reason === 'Sandbox lost' && ++lost <= killed
    const isReason = isOfKill || each.reason.test(letter?.reason ?? '')
    const isRight = letter === undefined || (letter.stage === each.stage && isReason)
    run.check(isRight, `${messageIds[0]} died at ${letter?.stage} of ${letter?.reason}`)
  }
}

function refuse(webhooks: Webhooks, webhook: number, kind: string, status: number): void {
  const isPoison = new RegExp(`^${kind}-.*\\.1$`)
  webhooks.all[webhook]!.answer = (messageId) => (isPoison.test(messageId) ? status : 200)
}

async function addCode(product: Product, destinationId: string): Promise<void> {
  const made = { name: 'Poisoned', code: CODE }
  const { transformation } = await product.call('POST', '/v2/transformations?publish=true', made)
  await product.call('PATCH', `/v2/destinations/${destinationId}`, { transformationIds: [transformation.id] })
}

/** @returns the messageIds of a new user; the first is the poison. */
async function sendUser(product: Product, writeKey: string, userId: string): Promise<string[]> {
  const messageIds = Array.from({ length: EVENTS_OF_USER }, (_, i) => `${userId}.${i + 1}`)
  const batch = messageIds.map((messageId) => ({ type: 'track', event: 'Seat Reserved', userId, messageId }))
  const answer = await fetch(`${product.url}/v1/batch`, { method: 'POST', body: JSON.stringify({ writeKey, batch }) })
  if (answer.status !== 200) throw new Error(`the events of ${userId} were answered ${answer.status}`)
  return messageIds
}

/** kill -9 of processes in which user code runs. @returns how many. */
async function killSandboxes(run: Run, product: Product, wanted: number): Promise<number> {
  let killed = 0
  for (const end = performance.now() + 3 * wanted * BETWEEN_KILLS_MS; killed < wanted && performance.now() < end; ) {
    await delay(BETWEEN_KILLS_MS * (1 + run.random()))
    if (run.signal.aborted || !product.isRunning) break
    const children = childrenOf(product.pid)
    const child = children[Math.floor(run.random() * children.length)]
    if (child === undefined) continue
    process.kill(child, 'SIGKILL')
    killed++
    run.say(`${killed} of ${wanted} sandboxes killed`)
  }
  run.check(killed > 0, 'there was no sandbox to kill')
  return killed
}

function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
}
