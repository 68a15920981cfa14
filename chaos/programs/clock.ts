import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Load } from '../load.ts'
import { cannot, libfaketime } from '../machine.ts'
import { Product } from '../product.ts'
import { counted, type Program, type Run, seconds } from '../program.ts'
import { checkErrors, delivered, makeSource, stopped } from '../set-up.ts'
import { Webhooks } from '../webhooks.ts'

const HOUR_MS = 3_600_000
const MAX_HOURS = 12
/** The step after a first failure is at most 10 s; the rest is for a busy machine. */
const FIRST_STEP_MS = 10_000
const ALLOWED_MS = 10_000
const DRAIN_MS = 60_000

/** The wall clock of the product, and of nobody else, by libfaketime; the monotonic one goes on as it is. */
export const clock: Program = {
  id: 'R8',
  title: 'the wall clock jumps by hours both ways',
  limitSeconds: { short: 240, full: 1_200 },
  cannotRun: cannot.fakeTime,
  async run(run) {
    await using webhooks = await Webhooks.open(2)
    const [, failing] = webhooks.all
    const failedAt = new Map<string, number>()
    let slowestRetryMs = 0
    failing!.answer = (messageId) => {
      const at = failedAt.get(messageId)
      if (at !== undefined) slowestRetryMs = Math.max(slowestRetryMs, performance.now() - at)
      else if (failsFirst(messageId)) {
        failedAt.set(messageId, performance.now())
        return 500
      }
      return 200
    }
    const wall = new Wall(join(run.folder, 'clock'))
    const options = { folder: join(run.folder, 'data'), environment: wall.environment }
    let product = await Product.start(options)
    const { writeKey } = await makeSource(
      product,
      webhooks.all.map(({ url }) => url),
    )
    let { url } = product
    const load = new Load(() => ({ url, writeKey }), { senders: 2, usersPerSender: 40, pauseMs: 20 })
    const jumps = run.pick({ short: 4, full: 60 })
    let downMs = 0
    for (let i = 0; i < jumps && !run.signal.aborted; i++) {
      run.say(`${i} of ${jumps} jumps, ${load.acknowledged.length} acknowledged`)
      await load.reached(load.acknowledged.length + 200)
      await delay(run.random() * 3_000)
      const hours = Math.round((1 + run.random() * (MAX_HOURS - 1)) * (i % 2 === 0 ? 1 : -1))
      wall.set(hours)
      // Forwards and back, each while it runs and between two runs.
      if (i % 4 === 0 || i % 4 === 3) await jumped(run, product, load, hours)
      else {
        // What waits was written under another clock.
        const from = performance.now()
        await product.kill()
        checkErrors(run, product)
        product = await Product.start(options)
        url = product.url
        downMs = Math.max(downMs, performance.now() - from)
        await jumped(run, product, load, hours)
      }
    }
    await load.stop()
    const facts = await delivered(run, webhooks.all, load.acknowledged, DRAIN_MS)
    const mostMs = FIRST_STEP_MS + downMs + ALLOWED_MS
    run.check(slowestRetryMs <= mostMs, `a retry came after ${seconds(slowestRetryMs)}`)
    const { paging } = await product.call('GET', '/v2/dead-letters')
    run.check(paging.total === 0, `${paging.total} dead letters`)
    checkErrors(run, product)
    await stopped(run, product)
    return [counted(jumps, 'jumps'), ...facts, counted(failedAt.size, 'retries'), `slowest ${seconds(slowestRetryMs)}`]
  },
}

/**
 * One in fifty, spread evenly: if those that come together failed together, the destination would rightly be left alone for a
 * minute, and this is not about that.
 */
function failsFirst(messageId: string): boolean {
  let hash = 7
  for (let at = 0; at < messageId.length; at++) hash = (Math.imul(hash, 31) + messageId.charCodeAt(at)) | 0
  return hash % 50 === 0
}

/** The product takes the new time: without that this program would show nothing. */
async function jumped(run: Run, product: Product, load: Load, hours: number): Promise<void> {
  const accepted = load.acknowledged.length
  await load.reached(accepted + 20)
  const messageId = load.acknowledged[accepted + 15]!
  let shown = Number.NaN
  await run.eventually(
    async () => {
      const { json } = await product.answer('GET', `/v2/events/${messageId}`)
      shown = (Date.parse(json?.events?.[0]?.acceptedAt) - Date.now()) / HOUR_MS
      return Math.abs(shown - hours) < 0.1
    },
    5_000,
    () => `the clock was set by ${hours} h, and an event was accepted at ${shown.toFixed(1)} h`,
  )
}

class Wall {
  readonly environment: Readonly<Record<string, string>>
  readonly #file: string

  constructor(file: string) {
    this.#file = file
    this.set(0)
    this.environment = {
      LD_PRELOAD: libfaketime()!,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    }
  }

  set(hours: number): void {
    writeFileSync(this.#file, `${hours < 0 ? '-' : '+'}${Math.abs(hours)}h\n`)
  }
}
