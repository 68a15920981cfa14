import { cpSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Load } from '../load.ts'
import { cannot, SmallDisk } from '../machine.ts'
import { checkOut, PREVIOUS_RELEASE } from '../previous-release.ts'
import { Product } from '../product.ts'
import { counted, type Program, type Run } from '../program.ts'
import { checkErrors, delivered, makeSource, stopped } from '../set-up.ts'
import { Webhooks } from '../webhooks.ts'

const DRAIN_MS = 60_000
const KILL_WITHIN_MS = 1_200
const MIGRATING_MS = 60
const FIRST_WRITE_MS = 60_000
const MB = 1024 * 1024

/** One webhook got everything from the old release, the other nothing: it is what the new one has to deliver. */
export const upgrade: Program = {
  id: 'R9',
  title: 'a data folder of the previous release',
  limitSeconds: { short: 180, full: 600 },
  cannotRun: () => cannot.readCommit(PREVIOUS_RELEASE) ?? cannot.mount(),
  async run(run) {
    run.say('the previous release fills a folder')
    const checkout = join(run.folder, 'previous')
    checkOut(PREVIOUS_RELEASE, checkout)
    await using webhooks = await Webhooks.open(2)
    const [open, held] = webhooks.all
    held!.answer = () => 'hang'
    const old = join(run.folder, 'old')
    const previous = await Product.start({ folder: old, checkout })
    const { writeKey } = await makeSource(
      previous,
      webhooks.all.map(({ url }) => url),
    )
    const load = new Load(() => ({ url: previous.url, writeKey }), { events: 2_000 })
    await load.ended
    const { acknowledged } = load
    await delivered(run, [open!], acknowledged, DRAIN_MS)
    const sources = (await previous.call('GET', '/v2/sources')).sources
    await stopped(run, previous)

    held!.answer = () => 200
    const usable = await failedMigration(run, old, checkout)
    run.say('the migration is killed')
    const folder = join(run.folder, 'new')
    cpSync(old, folder, { recursive: true })
    const kills = run.pick({ short: 5, full: 60 })
    for (let i = 0; i < kills && !run.signal.aborted; i++) await killWhileMigrating(run, folder)
    await using product = await Product.start({ folder })
    const more = new Load(() => ({ url: product.url, writeKey }), { name: 'later', events: 200 })
    await more.ended
    const all = [...acknowledged, ...more.acknowledged]
    const facts = await delivered(run, webhooks.all, all, DRAIN_MS)
    run.check(open!.arrivals.repeats === 0, `${open!.arrivals.repeats} events that had been delivered came again`)
    run.check(usable, 'after a failed migration the previous release cannot use the folder')
    const kept = (await product.call('GET', '/v2/sources')).sources
    run.check(kept[0]?.id === sources[0].id && kept[0]?.writeKey === writeKey, 'the source is not what it was')
    const { json } = await product.answer('GET', `/v2/events/${acknowledged[0]}`)
    run.check(json.events?.[0]?.destinations?.length === 2, 'the trace of an event of before is not there')
    checkErrors(run, product)
    await stopped(run, product)
    return [
      counted(kills, 'kills while migrating'),
      ...facts,
      'usable by the previous release after a failed migration',
    ]
  },
}

/** Every other kill waits for the first file that the start writes: what is before it is mostly reading the program. */
async function killWhileMigrating(run: Run, folder: string): Promise<void> {
  const before = filesIn(folder)
  const product = new Product({ folder })
  if (run.random() < 0.5) {
    await run.eventually(
      () => filesIn(folder) !== before,
      FIRST_WRITE_MS,
      () => 'a start writes nothing',
    )
    await delay(run.random() * MIGRATING_MS)
  } else await delay(run.random() * KILL_WITHIN_MS)
  await product.kill()
}

/** A start before may have left every file that this one makes: then their times tell. */
function filesIn(folder: string): string {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return names.map((name) => `${name} ${statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs}`).join()
}

/** The disk is full while the new release migrates. @returns whether the previous one then still starts on the folder. */
async function failedMigration(run: Run, old: string, checkout: string): Promise<boolean> {
  run.say('the migration finds the disk full')
  using small = new SmallDisk(join(run.folder, 'small'), Math.ceil(sizeOf(old) / MB) + 1)
  const folder = join(small.path, 'data')
  cpSync(old, folder, { recursive: true })
  small.fill()
  const before = readFileSync(join(folder, 'control.db'))
  const failing = new Product({ folder })
  const code = await failing.exited
  run.check(code === 1, `on a full disk the new release ended with ${code}`)
  run.check(before.equals(readFileSync(join(folder, 'control.db'))), 'a failed migration changed control.db')
  small.free()
  const previous = new Product({ folder, checkout })
  const isUsable = await previous.ready().then(
    () => true,
    () => false,
  )
  await previous.kill()
  return isUsable
}

function sizeOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}
