import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { hostileEvent } from '../hostile-events.ts'
import { Product } from '../product.ts'
import { counted, type Program, type Run } from '../program.ts'
import { checkErrors, makeSource, stopped } from '../set-up.ts'

const MB = 1024 * 1024
const SENDERS = 4
const EVENTS_PER_BATCH = 50
const EVENTS = { short: 20_000, full: 1_000_000 }
const SAMPLE_MS = 100
/** Every batch has one of these; what the catalog says of them is known to the last figure. */
const KNOWN = '{"type":"track","userId":"u-1","event":"Known","properties":{"hall":"B","price":18.5}}'
/** What one source may store, so that a run reaches it. */
const SOURCE_MB = { short: 4, full: 64 }
/** Pages that are not full, and a WAL: what one commit writes, which is at most what memory holds. */
const DISK_SLACK_MB = { short: 28, full: 80 }
/** Names of keys are counted whatever is stored: of a model, and again of its events without a version, beside their counts. */
const KEY_ROOM = { times: 2, besideBytes: 24 }
/** Of the most memory that it had until a quarter was counted. The short form has hardly warmed up by then. */
const MAX_GROWTH = { short: 2, full: 1.3 }
/** Issue 7: first byte and any answer with `limit=100`, in the full form, which runs alone. */
const ANSWER_MS = 200
/** What does not fit its memory the catalog reads and writes again and again: some hundred of these events a second. */
const CATCH_UP_MS = { short: 60_000, full: 6_000_000 }
const ASKED = 5

/** contracts/schema-catalog.md §9 and §11: whatever is cut, nothing is lost and nothing grows. */
export const hostileVariety: Program = {
  id: 'CAT',
  title: 'events of hostile variety in the schema catalog',
  limitSeconds: { short: 180, full: 7_200 },
  async run(run) {
    const environment = { MILLRACE_SCHEMA_SOURCE_MB: String(SOURCE_MB[run.size]) }
    await using product = await Product.start({ folder: run.folder, environment })
    const { writeKey } = await makeSource(product, [])
    const memory = new Memory(product)
    const sent: Sent = { accepted: 0, isOver: false }
    const sending = sendAll(run, product, writeKey, sent)
    await untilCounted(run, product, sent, memory)
    await sending
    const { accepted } = sent
    const models: Model[] = await product.call('GET', '/schemas/event-models')
    await checkCounts(run, product, models, accepted)
    const stored = catalogBytes(run.folder)
    const keys = keyBytes(models)
    const bound = (SOURCE_MB[run.size] + DISK_SLACK_MB[run.size]) * MB + keys
    run.check(stored <= bound, `the catalog takes ${Math.round(stored / MB)} of ${Math.round(bound / MB)} MB on disk`)
    run.check(memory.most <= MAX_GROWTH[run.size] * memory.early, `memory grew: ${memory.figures}`)
    const answers = await slowestAnswers(product, models)
    const slow = Math.max(answers.firstByteMs, answers.limitedMs)
    if (run.size === 'full') run.check(slow < ANSWER_MS, `an answer took ${Math.round(slow)} ms`)
    checkErrors(run, product)
    await stopped(run, product)
    return [
      counted(accepted, 'events'),
      memory.figures,
      `${Math.round(stored / MB)} MB on disk, where keys may take ${Math.round(keys / MB)} of ${Math.round(bound / MB)}`,
      `first byte after ${Math.round(answers.firstByteMs)} ms at most`,
      `limit=100 within ${Math.round(answers.limitedMs)} ms`,
    ]
  },
}

class Memory {
  /** The most while the first quarter was counted, and after it. */
  early = 0
  most = 0
  readonly #product: Product

  constructor(product: Product) {
    this.#product = product
  }

  sample(isEarly: boolean): void {
    if (!this.#product.isRunning) return
    const now = this.#product.residentBytes
    if (isEarly) this.early = Math.max(this.early, now)
    else this.most = Math.max(this.most, now)
  }

  get figures(): string {
    return `${Math.round(this.early / MB)} MB at a quarter, ${Math.round(this.most / MB)} MB at most`
  }
}

async function send(product: Product, body: string): Promise<string> {
  const answer = await fetch(`${product.url}/v1/batch`, { method: 'POST', body })
  return `${answer.status} ${(await answer.text()).replaceAll('"', '')}`
}

async function checkCounts(run: Run, product: Product, models: readonly Model[], accepted: number): Promise<void> {
  const total = models.reduce((sum, { TotalCount }) => sum + TotalCount, 0)
  run.check(total === accepted, `${counted(accepted, 'accepted')}, the catalog has counted ${total}`)
  const known = models.find(({ EventIdentifier }) => EventIdentifier === 'Known')
  const batches = accepted / EVENTS_PER_BATCH
  run.check(known?.TotalCount === batches, `${batches} events were known, the catalog says ${known?.TotalCount}`)
  if (known === undefined) return
  const keys = await product.call('GET', `/schemas/event-model/${known.EventID}/key-counts`)
  run.check(keys['properties.price'] === batches, `a key of them was counted ${keys['properties.price']} times`)
  const { FrequentValues } = await product.call('GET', `/schemas/event-model/${known.EventID}/metadata`)
  const [hall] = FrequentValues['properties.hall'] ?? []
  run.check(hall?.Frequency === batches, `a value of them was counted ${hall?.Frequency} times`)
}

/** What the names of all keys may take on disk. */
function keyBytes(models: readonly Model[]): number {
  const names = models.flatMap(({ Schema }) => Object.keys(Schema))
  return names.reduce((sum, name) => sum + KEY_ROOM.times * (Buffer.byteLength(name) + KEY_ROOM.besideBytes), 0)
}

interface Model {
  readonly EventID: string
  readonly Schema: Readonly<Record<string, string>>
  readonly EventIdentifier: string
  readonly TotalCount: number
}

interface Sent {
  /** Events. */
  accepted: number
  isOver: boolean
}

async function sendAll(run: Run, product: Product, writeKey: string, sent: Sent): Promise<void> {
  const wanted = run.pick(EVENTS)
  let batches = 0
  const sender = async () => {
    while (batches * EVENTS_PER_BATCH < wanted && product.isRunning && !run.signal.aborted) {
      batches++
      const events = Array.from({ length: EVENTS_PER_BATCH - 1 }, () => hostileEvent(run.random))
      const answer = await send(product, `{"writeKey":"${writeKey}","batch":[${KNOWN},${events.join()}]}`)
      run.check(answer === '200 OK', `a batch was answered ${answer}`)
      if (answer === '200 OK') sent.accepted += EVENTS_PER_BATCH
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, sender))
  sent.isOver = true
}

/** Until all is sent, and counted. */
async function untilCounted(run: Run, product: Product, sent: Sent, memory: Memory): Promise<void> {
  await run.eventually(
    async () => {
      const { accepted, isOver } = sent
      const { LagEvents } = await product.call('GET', '/schemas/status')
      memory.sample(accepted - LagEvents < run.pick(EVENTS) / 4)
      run.say(`${accepted} accepted, the catalog is ${LagEvents} behind, ${memory.figures}`)
      if (isOver && LagEvents === 0) return true
      await delay(SAMPLE_MS)
      return false
    },
    CATCH_UP_MS[run.size],
    () => 'the catalog does not catch up',
  )
}

/** Of the median of a few calls each: the longest wait for a first byte, and for a whole answer with `limit=100`. */
async function slowestAnswers(product: Product, models: readonly Model[]) {
  const largest = models.reduce((most, model) => (model.TotalCount > most.TotalCount ? model : most))
  const whole = [
    '/schemas/event-models',
    `/schemas/event-versions?EventID=${largest.EventID}`,
    `/schemas/event-model/${largest.EventID}/metadata`,
    `/schemas/event-model/${largest.EventID}/key-counts`,
    '/schemas/event-models/json-schemas',
  ]
  const limited = ['/schemas/event-models?limit=100', `/schemas/event-versions?EventID=${largest.EventID}&limit=100`]
  let firstByteMs = 0
  let limitedMs = 0
  for (const route of [...whole, ...limited])
    firstByteMs = Math.max(firstByteMs, await median(product, route, 'first byte'))
  for (const route of limited) limitedMs = Math.max(limitedMs, await median(product, route, 'whole'))
  return { firstByteMs, limitedMs }
}

async function median(product: Product, route: string, until: 'first byte' | 'whole'): Promise<number> {
  const times: number[] = []
  for (let call = 0; call < ASKED; call++) {
    const from = performance.now()
    const body = await product.stream(route)
    if (until === 'whole') await body.text()
    times.push(performance.now() - from)
    if (until === 'first byte') await body.text()
  }
  return times.sort((a, b) => a - b)[Math.floor(ASKED / 2)]!
}

/** The catalog's database and what belongs to it. */
function catalogBytes(folder: string): number {
  const files = readdirSync(folder).filter((name) => name.startsWith('catalog.db'))
  return files.reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0)
}
