import { readdirSync, rmSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { join } from 'node:path'
import { Load } from '../load.ts'
import { canForbid, cannot, Forbidden, SmallDisk } from '../machine.ts'
import { Product } from '../product.ts'
import { counted, type Program, type Run, seconds } from '../program.ts'
import { delivered, makeSource, stopped } from '../set-up.ts'
import { type Webhook, Webhooks } from '../webhooks.ts'

const DISK_MB = 96
const FLOOR_MB = 24
const KEPT_FREE_BYTES = 8 * 1024 * 1024
/** The contract says 2 s for all of these; the rest is for a machine that is busy. */
const NOTICED_MS = 5_000
const DRAIN_MS = 60_000
const ON_DISK = '/var/tmp'

/** What is broken and mended while events come in; `needle` is what /health says. */
interface Trouble {
  readonly name: string
  readonly begin: () => void
  readonly end: () => void
  readonly needle: RegExp
}

export const disk: Program = {
  id: 'R3',
  title: 'disk full, read-only, data folder deleted',
  limitSeconds: { short: 240, full: 1_200 },
  cannotRun: cannot.mount,
  async run(run) {
    using small = new SmallDisk(join(run.folder, 'disk'), DISK_MB)
    const full = { name: 'full', begin: () => small.fill(), end: () => small.free(), needle: /./ }
    const low = {
      ...full,
      name: 'below its floor',
      begin: () => small.fill(KEPT_FREE_BYTES),
      needle: /free space below 24 MB/,
    }
    const rounds = run.pick({ short: 1, full: 10 })
    const facts = [
      ...(await live(run, join(small.path, 'full'), rounds, full, 0)),
      ...(await live(run, join(small.path, 'low'), rounds, low, FLOOR_MB)),
      ...(await readOnlyWhileRunning(run)),
    ]
    await killedWhileFull(run, small)
    await startedReadOnly(run, small)
    const noticedMs = await deleted(run, join(small.path, 'deleted'))
    return [...facts, `deletion noticed within ${seconds(noticedMs)}`]
  },
}

/** Trouble comes and goes under load, several times: what is answered meanwhile is 503, and all recovers by itself. */
async function live(run: Run, folder: string, rounds: number, trouble: Trouble, floorMb: number): Promise<string[]> {
  await using webhooks = await Webhooks.open(1)
  await using product = await Product.start({ folder, environment: { MILLRACE_MIN_FREE_DISK_MB: `${floorMb}` } })
  const { writeKey } = await makeSource(product, [webhooks.all[0]!.url])
  const load = new Load(() => ({ url: product.url, writeKey }), { pauseMs: 5 })
  let slowestMs = 0
  for (let round = 0; round < rounds && !run.signal.aborted; round++) {
    await load.reached(load.acknowledged.length + 200 + Math.floor(300 * run.random()))
    run.say(`${trouble.name}, ${round + 1} of ${rounds}`)
    trouble.begin()
    await run.eventually(
      () => isUnhealthy(product, trouble.needle),
      NOTICED_MS,
      () => `${trouble.name}: /health says nothing`,
    )
    const refused = load.refused.length
    await run.eventually(
      () => load.refused.length > refused,
      NOTICED_MS,
      () => `${trouble.name}: events are answered 200`,
    )
    trouble.end()
    const from = performance.now()
    await run.eventually(
      () => isHealthy(product),
      4 * NOTICED_MS,
      () => `${trouble.name}: no recovery`,
    )
    const accepted = load.acknowledged.length
    await run.eventually(
      () => load.acknowledged.length > accepted,
      NOTICED_MS,
      () => `${trouble.name}: nothing is accepted`,
    )
    slowestMs = Math.max(slowestMs, performance.now() - from)
  }
  await load.stop()
  run.check(slowestMs <= NOTICED_MS, `${trouble.name}: recovery took ${seconds(slowestMs)}`)
  const others = [...load.statuses.keys()].filter((status) => ![200, 503].includes(status))
  run.check(others.length === 0, `${trouble.name}: answered ${others.join(', ')}`)
  const facts = await delivered(run, webhooks.all, load.acknowledged, DRAIN_MS)
  const ghosts = load.refused.filter((each) => webhooks.all[0]!.arrivals.times(each) > 0)
  run.check(ghosts.length === 0, `${trouble.name}: ${ghosts.length} events were refused and delivered`)
  run.check(
    product.lines.some((line) => line.includes('events are refused')),
    `${trouble.name}: the log says nothing`,
  )
  await stopped(run, product)
  return [
    `${trouble.name}: ${facts[0]}, ${counted(load.refused.length, 'answered 503')}, ${facts[3]}, back within ${seconds(slowestMs)}`,
  ]
}

async function readOnlyWhileRunning(run: Run): Promise<string[]> {
  // The first may be in memory.
  await using onDisk = await mkdtempDisposable(join(ON_DISK, 'millrace-chaos-r3-'))
  const parent = [run.folder, onDisk.path].find(canForbid)
  if (parent === undefined) return ['read-only while running SKIPPED: chattr does not work here']
  const folder = join(parent, 'forbidden-data')
  let forbidden: Forbidden | undefined
  const trouble: Trouble = {
    name: 'read-only',
    begin: () => {
      const log = join(folder, 'log')
      forbidden = new Forbidden(
        ...readdirSync(log)
          .filter((name) => !name.endsWith('-shm'))
          .map((name) => join(log, name)),
        log,
      )
    },
    end: () => forbidden?.[Symbol.dispose](),
    needle: /./,
  }
  try {
    return await live(run, folder, run.pick({ short: 1, full: 5 }), trouble, 0)
  } finally {
    forbidden?.[Symbol.dispose]()
  }
}

/** Nothing is half-written: a kill on a full disk costs nothing that was acknowledged. */
async function killedWhileFull(run: Run, small: SmallDisk): Promise<void> {
  run.say('killed while the disk is full')
  const folder = join(small.path, 'killed')
  await using webhooks = await Webhooks.open(1)
  const first = await Product.start({ folder })
  const { writeKey } = await makeSource(first, [webhooks.all[0]!.url])
  const load = new Load(() => ({ url: first.url, writeKey }), { pauseMs: 2 })
  await load.reached(300)
  small.fill()
  await run.eventually(
    () => load.refused.length > 0,
    NOTICED_MS,
    () => 'a full disk takes events',
  )
  await first.kill()
  await load.stop()
  small.free()
  await using second = await Product.start({ folder })
  await delivered(run, webhooks.all, load.acknowledged, DRAIN_MS)
  await stopped(run, second)
}

async function startedReadOnly(run: Run, small: SmallDisk): Promise<void> {
  run.say('started on a read-only disk')
  const folder = join(small.path, 'killed')
  small.remount('ro')
  const product = new Product({ folder })
  const code = await product.exited
  small.remount('rw')
  run.check(code === 1, `started on a read-only disk, it ended with ${code}`)
  run.check(
    product.lines.some((line) => line.includes('cannot start') && line.includes(folder)),
    'it does not say that the folder is read-only',
  )
  await using again = await Product.start({ folder })
  await stopped(run, again)
}

async function deleted(run: Run, folder: string): Promise<number> {
  run.say('the data folder is deleted')
  await using webhooks = await Webhooks.open(1)
  const product = await Product.start({ folder })
  const { writeKey } = await makeSource(product, [(webhooks.all[0] as Webhook).url])
  const load = new Load(() => ({ url: product.url, writeKey }), { pauseMs: 5 })
  await load.reached(100)
  rmSync(folder, { recursive: true })
  const from = performance.now()
  await run.eventually(
    () => load.refused.length > 0,
    NOTICED_MS,
    () => 'deleted: events are answered 200',
  )
  await run.eventually(
    () => isUnhealthy(product, /./),
    NOTICED_MS,
    () => 'deleted: /health says nothing',
  )
  const noticedMs = performance.now() - from
  const [accepted, refused] = [load.acknowledged.length, load.refused.length]
  await run.eventually(
    () => load.refused.length > refused + 50,
    NOTICED_MS,
    () => 'deleted: nothing is refused any more',
  )
  run.check(load.acknowledged.length === accepted, 'deleted: events are answered 200 again')
  await load.stop()
  await product.kill()
  await using again = await Product.start({ folder })
  await stopped(run, again)
  return noticedMs
}

async function isUnhealthy(product: Product, needle: RegExp): Promise<boolean> {
  const { status, json } = await product.answer('GET', '/health')
  return status === 503 && json.acceptingEvents === 'FALSE' && needle.test(`${json.checks.disk} ${json.checks.log}`)
}

async function isHealthy(product: Product): Promise<boolean> {
  return (await product.answer('GET', '/health')).status === 200
}
