import { setTimeout as delay } from 'node:timers/promises'
import { chromiumProgram } from '@millrace/dev-env/chromium'
import { MAX_MODEL } from '@millrace/dev-env/seed-documents'
import type { Bench } from '../bench.ts'
import {
  FRAMES_MS,
  HIDE,
  HOME_USABLE_MS,
  loadAllRows,
  openingMs,
  pageChangeMs,
  scrollThrough,
  WATCH_FRAMES,
} from '../dashboard/in-page.ts'
import { interactionsMs } from '../dashboard/interactions.ts'
import { sendLargestModel } from '../dashboard/largest-model.ts'
import { type Visit, Visitor } from '../dashboard/visitor.ts'
import { startWorkspace, type Workspace } from '../dashboard/workspaces.ts'
import { messageIdOf } from '../events.ts'
import { addSource } from '../product.ts'
import type { Program } from '../programs.ts'
import type { Measured, Row } from '../row.ts'
import { median, middleHalf, quantile } from '../statistics.ts'
import { millis, seconds } from '../table.ts'

/*
 * What the dashboard is like to use, in a real Chromium without a window that the product, on the same cores, serves. What it
 * weighs is counted by its build.
 */

const STARTS = 10
const SLOWNESS = 4
const PAGES = ['Home', 'Sources', 'Destinations', 'Dead letters', 'Events']
const ROUNDS_OF_PAGES = 6
const BETWEEN_PAGES_MS = 500
/** Each event is two messages: accepted, and delivered. */
const MESSAGES_PER_EVENT = 2
const MESSAGES_PER_SECOND = 50
const LIVE_SECONDS = { full: 600, small: 60 }
/** At the rate above 10,000 rows, the most that are kept, have come by then. */
const SHARE_UNTIL_FULL = 0.7
const LIVE_TIMEOUT_MS = 700_000
const STRETCHES = { full: 50, small: 2 }
const SETTLING_MS = 10_000
const LEFT_ALONE_MS = { full: 60_000, small: 15_000 }
const HIDDEN_MS = 61_000

export const dashboardRows: readonly Row[] = [
  row('Home usable, empty cache / CPU 4 × slower', '≤ 1.0 s / ≤ 2.5 s', 'cinema', homeUsable),
  row('the same with 1,000 sources, 500 destinations', '≤ 1.0 s / ≤ 2.5 s', 'large', homeUsable),
  row('page change with cached data, p95', '≤ 100 ms', 'large', pageChanges),
  row('interaction, p95', '≤ 200 ms', 'large', interactions),
  row('model of 200 versions and 2,000 keys opens', '≤ 1.0 s', 'cinema', modelOpens),
  row('Events at 50 messages/s: p95 frame; heap', '≤ 25 ms; flat', 'cinema', liveEvents),
  row('100,000 rows scrolled: p95 frame; heap', '≤ 25 ms; flat', 'large', scrolledRows),
  row('idle tab, requests a minute / CPU; hidden over 60 s', '≤ 30 / ≤ 2 %; none', 'large', leftAlone),
]

interface Visited {
  readonly bench: Bench
  readonly product: Program
  readonly visitor: Visitor
}

function row(
  figure: string,
  goal: string,
  workspace: Workspace,
  measure: (visited: Visited) => Promise<Measured>,
): Row {
  return {
    name: 'dashboard',
    figure,
    goal,
    measure: async (bench) => {
      const program = chromiumProgram()
      if (program === undefined) {
        console.error('SKIPPED: there is no Chromium on this machine')
        return { measured: 'skipped: no Chromium', samples: {} }
      }
      await using product = await startWorkspace(bench, workspace)
      await using visitor = await Visitor.open(program, product)
      return await measure({ bench, product, visitor })
    },
  }
}

async function homeUsable({ bench, visitor }: Visited): Promise<Measured> {
  const start = async (slowness: number): Promise<number> => {
    await using visit = await visitor.visit('/', { slowness })
    return (await visit.page.evaluate<number>(HOME_USABLE_MS)) / 1_000
  }
  // The first one finds nothing in the server's caches either.
  await start(1)
  const plain: number[] = []
  const slow: number[] = []
  for (let n = 0; n < (bench.isSmall ? 3 : STARTS); n++) {
    plain.push(await start(1))
    slow.push(await start(SLOWNESS))
  }
  return {
    measured: `${seconds(median(plain))} / ${seconds(median(slow))}`,
    spread: [plain, slow].map((each) => middleHalf(each).map(seconds).join('–')).join(' / '),
    samples: { plain, slow },
  }
}

async function pageChanges({ bench, visitor }: Visited): Promise<Measured> {
  await using visit = await visitor.visit('/')
  await visit.page.evaluate(HOME_USABLE_MS)
  const ms: number[] = []
  // The first round loads what the others find.
  for (let round = 0; round <= (bench.isSmall ? 2 : ROUNDS_OF_PAGES); round++) {
    for (const page of [...PAGES.slice(1), PAGES[0]!]) {
      const took = await visit.page.evaluate<number>(pageChangeMs(page))
      if (round > 0) ms.push(took)
      await delay(BETWEEN_PAGES_MS)
    }
  }
  return figureOf(ms)
}

async function interactions({ visitor }: Visited): Promise<Measured> {
  await using visit = await visitor.visit('/')
  await visit.page.evaluate(HOME_USABLE_MS)
  return figureOf(await interactionsMs(visit))
}

async function modelOpens({ bench, product, visitor }: Visited): Promise<Measured> {
  await sendLargestModel(product, bench.spareUrl)
  await using visit = await visitor.visit('/schema')
  const took: number[] = []
  for (let opening = 0; opening < (bench.isSmall ? 2 : STARTS); opening++) {
    // Loaded anew, so that nothing of the model is known.
    await visit.page.goto('/ui/schema')
    await visit.page.getByRole('row', { name: 'Largest' }).waitFor()
    took.push((await visit.page.evaluate<number>(openingMs('Largest', 'Keys', MAX_MODEL.keys))) / 1_000)
  }
  return {
    measured: seconds(median(took)),
    spread: middleHalf(took).map(seconds).join('–'),
    samples: { seconds: took },
  }
}

async function liveEvents({ bench, product, visitor }: Visited): Promise<Measured> {
  const eventsPerSecond = MESSAGES_PER_SECOND / MESSAGES_PER_EVENT
  const events = eventsPerSecond * (bench.isSmall ? LIVE_SECONDS.small : LIVE_SECONDS.full)
  const writeKey = await addSource(product, bench.spareUrl)
  await using visit = await visitor.visit('/events')
  const send = async (count: number) => {
    const run = { run: bench.nextRun(), port: product.port, writeKey, batch: 1, connections: 2, eventsPerSecond }
    await bench.load.call('run', { ...run, events: count }, LIVE_TIMEOUT_MS)
    // The stream leaves out what is over 50 messages in a second, and this load is just there: of the last second one is shown.
    const last = Array.from({ length: eventsPerSecond }, (_, n) => messageIdOf(run, count - 1 - n))
    await visit.page
      .getByRole('row', { name: new RegExp(last.join('|')) })
      .first()
      .waitFor()
  }
  await visit.page.locator('[data-row="0"]').waitFor()
  const early = Math.round(events * SHARE_UNTIL_FULL)
  const frames = await framesDuring(visit, () => send(early))
  const heapMb = [await visit.heapMb()]
  frames.push(...(await framesDuring(visit, () => send(events - early))))
  heapMb.push(await visit.heapMb())
  return framesAndHeap(frames, heapMb)
}

async function scrolledRows({ bench, visitor }: Visited): Promise<Measured> {
  await using visit = await visitor.visit('/dead-letters')
  await visit.page.getByRole('table', { name: 'Dead letters' }).waitFor()
  const rows = await visit.page.evaluate<number>(loadAllRows('Dead letters'))
  const scroll = () => visit.page.evaluate(scrollThrough(bench.isSmall ? STRETCHES.small : STRETCHES.full))
  await scroll()
  const heapMb = [await visit.heapMb()]
  const frames = await framesDuring(visit, scroll)
  heapMb.push(await visit.heapMb())
  const measured = framesAndHeap(frames, heapMb)
  return { ...measured, samples: { ...measured.samples, rows: [rows] } }
}

/** Home, which asks most, and Events, which holds a stream open. */
async function leftAlone({ bench, visitor }: Visited): Promise<Measured> {
  const watchedMs = bench.isSmall ? LEFT_ALONE_MS.small : LEFT_ALONE_MS.full
  const perMinute: number[] = []
  const cpuPercent: number[] = []
  const hidden: number[] = []
  for (const path of ['/', '/events']) {
    await using visit = await visitor.visit(path)
    await delay(SETTLING_MS)
    const cpuBefore = await visitor.cpuSeconds()
    const before = visit.requests.length
    await delay(watchedMs)
    perMinute.push(((visit.requests.length - before) * 60_000) / watchedMs)
    cpuPercent.push((((await visitor.cpuSeconds()) - cpuBefore) * 100_000) / watchedMs)
    await visit.page.evaluate(HIDE)
    await delay(HIDDEN_MS)
    const whenHidden = visit.requests.length
    await delay(watchedMs)
    hidden.push(visit.requests.length - whenHidden)
  }
  const most = (values: readonly number[]) => Math.max(...values)
  return {
    measured: `${most(perMinute).toFixed(0)} / ${most(cpuPercent).toFixed(1)} %; ${most(hidden)}`,
    samples: { perMinute, cpuPercent, hidden },
  }
}

async function framesDuring({ page }: Visit, run: () => Promise<unknown>): Promise<number[]> {
  await page.evaluate(WATCH_FRAMES)
  await run()
  return page.evaluate<number[]>(FRAMES_MS)
}

function framesAndHeap(frames: readonly number[], heapMb: readonly number[]): Measured {
  return {
    measured: `${millis(quantile(frames, 0.95))}; ${heapMb.map((mb) => mb.toFixed(1)).join(' → ')} MB`,
    samples: { frameQuantilesMs: [0.5, 0.9, 0.95, 0.99, 1].map((share) => quantile(frames, share)), heapMb },
  }
}

function figureOf(ms: readonly number[]): Measured {
  return { measured: millis(quantile(ms, 0.95)), spread: middleHalf(ms).map(millis).join('–'), samples: { ms } }
}
