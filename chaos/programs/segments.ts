import { closeSync, cpSync, openSync, readdirSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { Arrivals } from '../arrivals.ts'
import { Load } from '../load.ts'
import { command, Product } from '../product.ts'
import { counted, type Program, type Run } from '../program.ts'
import { makeSource, stopped } from '../set-up.ts'
import { type Webhook, Webhooks } from '../webhooks.ts'

const SEGMENTS = 4
const EVENTS_PER_SEGMENT = 200
const PAGE = 16_384
const ARRIVE_MS = 30_000

const DAMAGES: readonly [name: string, damage: (file: string, at: number) => void][] = [
  ['cut in the middle', (file, at) => truncateSync(file, Math.floor(statSync(file).size * at))],
  ['emptied', (file) => truncateSync(file, 0)],
  ['without its last page', (file) => truncateSync(file, statSync(file).size - PAGE)],
  ['with its first page overwritten', (file) => overwrite(file, 0, PAGE)],
  ['with its later pages overwritten', (file) => overwrite(file, PAGE, statSync(file).size - PAGE)],
  ['replaced by a text', (file) => writeFileSync(file, 'a text')],
]

/** What a crashed server left while its destination had not answered anything: all of it has still to be delivered. */
interface Left {
  readonly folder: string
  /** Acknowledged events by the segment that they are in, oldest first; the last is the open one. */
  readonly segments: readonly (readonly string[])[]
  /** Of the open segment's WAL: how long it was when so many of its events were acknowledged. */
  readonly walAt: readonly { readonly bytes: number; readonly events: number }[]
}

export const segments: Program = {
  id: 'R2',
  title: 'cut and overwritten files of the log',
  limitSeconds: { short: 240, full: 1_800 },
  async run(run) {
    await using webhooks = await Webhooks.open(1)
    const [webhook] = webhooks.all as [Webhook]
    const left = await leave(run, webhook)
    webhook.answer = () => 200
    const cuts = run.pick({ short: 3, full: 60 })
    for (let i = 0; i < cuts && !run.signal.aborted; i++) {
      run.say(`cut ${i + 1} of ${cuts} of the WAL`)
      await cutWal(run, webhook, left, i)
    }
    const damages = DAMAGES.flatMap((damage) => [0, 1, SEGMENTS - 1].map((at) => ({ damage, at })))
    const chosen = run.pick({ short: [0, 7, 11], full: damages.keys().toArray() })
    for (const each of chosen) {
      if (run.signal.aborted) break
      const { damage, at } = damages[each]!
      run.say(`segment ${at + 1} ${damage[0]}`)
      await damageSegment(run, webhook, left, damage, at)
    }
    return [
      counted(left.segments.flat().length, `acknowledged in ${left.segments.length} segments`),
      counted(cuts, 'cuts of the WAL'),
      counted(chosen.length, 'damaged segments'),
      '0 lost of what was whole',
    ]
  },
}

async function leave(run: Run, webhook: Webhook): Promise<Left> {
  const folder = join(run.folder, 'left')
  webhook.answer = () => 'hang'
  const product = await Product.start({ folder })
  const { writeKey } = await makeSource(product, [webhook.url])
  const target = { url: product.url, writeKey }
  const all: string[][] = []
  for (let i = 0; i < SEGMENTS; i++) {
    all.push(await sendAll(target, `segment${i}`, EVENTS_PER_SEGMENT))
    // A backup closes the newest segment.
    await backUp(run, product)
  }
  const walAt: { bytes: number; events: number }[] = []
  const open: string[] = []
  for (let i = 0; i < 20; i++) {
    open.push(...(await sendAll(target, `open${i}`, 10)))
    walAt.push({ bytes: statSync(`${segmentFiles(folder).at(-1)}-wal`).size, events: open.length })
  }
  await product.kill()
  run.check(segmentFiles(folder).length === SEGMENTS + 1, `there are ${segmentFiles(folder).length} segments`)
  return { folder, segments: [...all, open], walAt }
}

async function sendAll(target: { url: string; writeKey: string }, name: string, events: number): Promise<string[]> {
  const load = new Load(() => target, { name, senders: 1, events })
  await load.ended
  if (load.acknowledged.length !== events) throw new Error(`${load.refused.length} events were refused`)
  return load.acknowledged
}

async function backUp(run: Run, product: Product): Promise<void> {
  await product.call('POST', '/v2/admin/backup')
  const state = async () => (await product.call('GET', '/v2/admin/info')).info.lastBackup.state
  await run.eventually(
    async () => (await state()) !== 'running',
    ARRIVE_MS,
    () => 'a backup did not end',
  )
}

async function cutWal(run: Run, webhook: Webhook, left: Left, round: number): Promise<void> {
  const folder = join(run.folder, `cut-${round}`)
  cpSync(left.folder, folder, { recursive: true })
  const wal = `${segmentFiles(folder).at(-1)}-wal`
  const bytes = Math.floor(statSync(wal).size * run.random())
  truncateSync(wal, bytes)
  const events = Math.max(0, ...left.walAt.filter((each) => each.bytes <= bytes).map((each) => each.events))
  const whole = [...left.segments.slice(0, -1).flat(), ...left.segments.at(-1)!.slice(0, events)]
  await using server = await servesAll(run, webhook, folder, whole, `WAL cut at ${bytes}`)
  await stopped(run, server)
}

async function damageSegment(
  run: Run,
  webhook: Webhook,
  left: Left,
  [name, damage]: (typeof DAMAGES)[number],
  at: number,
): Promise<void> {
  const what = `segment ${at + 1} ${name}`
  const folder = join(run.folder, what.replaceAll(' ', '-'))
  cpSync(left.folder, folder, { recursive: true })
  damage(segmentFiles(folder)[at]!, 0.2 + 0.6 * run.random())
  const whole = left.segments.filter((_, i) => i !== at).flat()
  await using server = await servesAll(run, webhook, folder, whole, what)
  await stopped(run, server)
  run.check(
    readdirSync(join(folder, 'log')).some((file) => file.endsWith('.damaged')),
    `${what} is not set aside`,
  )
  const { out } = await command(['doctor', '--json'], { MILLRACE_DATA_DIR: folder, MILLRACE_PORT: '0' })
  run.check(/damaged|set aside/.test(out), `doctor does not show ${what}`)
}

/** Starts on a copy and waits for everything that is whole, and for what is sent then. */
async function servesAll(
  run: Run,
  webhook: Webhook,
  folder: string,
  whole: readonly string[],
  what: string,
): Promise<Product> {
  webhook.arrivals = new Arrivals()
  const product = await Product.start({ folder })
  const { sources } = await product.call('GET', '/v2/sources')
  const after = await sendAll({ url: product.url, writeKey: sources[0].writeKey }, 'after', 5)
  const { arrivals } = webhook
  await run.eventually(
    () => arrivals.hasAll(after) && arrivals.hasAll(whole),
    ARRIVE_MS,
    () => `${what}: ${arrivals.missing(whole)} of ${whole.length} lost, ${arrivals.missing(after)} of those after it`,
  )
  run.check(arrivals.outOfOrder === 0, `${what}: ${arrivals.outOfOrder} out of order`)
  return product
}

function segmentFiles(folder: string): string[] {
  const names = readdirSync(join(folder, 'log')).filter((name) => name.endsWith('.db'))
  return names.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)).map((name) => join(folder, 'log', name))
}

function overwrite(file: string, from: number, length: number): void {
  const opened = openSync(file, 'r+')
  writeSync(opened, Buffer.alloc(length, 'not what it was '), 0, length, from)
  closeSync(opened)
}
