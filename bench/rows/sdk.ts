import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { CHROMIUM_FLAGS, chromiumProgram } from '@millrace/dev-env/chromium'
import { chromium } from 'playwright-core'
import type { Bench } from '../bench.ts'
import { type Measured, oncePerBench, type Row } from '../row.ts'
import { median } from '../statistics.ts'

/*
 * P15: the client SDK in a headless Chromium, a page per start, because a client is initialised once. P15b: public web SDKs and
 * ours as scripts/beside measures them all, bundled alike, from evaluating the script to the return of the start.
 */

const ROOT = path.join(import.meta.dirname, '../..')
const WWW = path.join(ROOT, 'sdks/cordova/www')
const FILE = 'service-client.js'
const STARTS = 20
const BURST = 500

const BESIDE = [
  'service-sdk-cordova',
  '@segment/analytics-next',
  'posthog-js',
  'mixpanel-browser',
  '@amplitude/analytics-browser',
  '@snowplow/browser-tracker',
]

interface Client {
  readonly name: string
  readonly version?: string
  readonly gzipBytes: number
  readonly startMs: readonly number[]
  readonly trackMs: readonly number[]
}

const clients = oncePerBench(async () => {
  const script = path.join(ROOT, 'scripts/beside/main.ts')
  const printed = execFileSync(process.execPath, [script, '--json', '--no-faults'], { encoding: 'utf8', stdio: 'pipe' })
  return JSON.parse(printed) as readonly Client[]
})

export const sdkRows: readonly Row[] = [
  {
    name: 'P15',
    figure: 'SDK: JS gzip / sync initialize / sync track',
    goal: '≤ 16 KB / < 5 ms / < 0.1 ms',
    measure,
  },
  ...BESIDE.map((name) => ({
    name: 'P15b',
    figure: `beside others, ${name}: gzip / start / track`,
    goal: '–',
    measure: (bench: Bench) => besideOthers(bench, name),
  })),
]

async function besideOthers(bench: Bench, name: string): Promise<Measured> {
  const { version, gzipBytes, startMs, trackMs } = (await clients(bench)).find((client) => client.name === name)!
  const size = `${(gzipBytes / 1024).toFixed(1)} KB`
  const figures = `${size} / ${median(startMs).toFixed(1)} ms / ${median(trackMs).toFixed(3)} ms`
  return {
    measured: version === undefined ? figures : `${figures} (${version})`,
    samples: { gzipBytes: [gzipBytes], startMs, trackMs },
  }
}

async function measure(): Promise<Measured> {
  execFileSync(process.execPath, [path.join(ROOT, 'scripts/build-sdk.ts')], { stdio: 'ignore' })
  const size = gzipSync(readFileSync(path.join(WWW, FILE)), { level: 9 }).length
  const samples = await timesInPages()
  return {
    measured: `${(size / 1024).toFixed(1)} KB / ${median(samples.initializeMs).toFixed(2)} ms / ${median(samples.trackMs).toFixed(3)} ms`,
    samples: { gzipBytes: [size], ...samples },
  }
}

async function timesInPages(): Promise<{ initializeMs: number[]; trackMs: number[] }> {
  const script = `const module = {};${readFileSync(path.join(WWW, 'service-client.js'), 'utf8')};globalThis.client = module.exports`
  const server = createServer((_request, response) => void response.end('<!doctype html>'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const program = chromiumProgram()
  if (program === undefined) throw new Error('P15 needs Chromium')
  const browser = await chromium.launch({ executablePath: program, args: [...CHROMIUM_FLAGS] })
  const times = { initializeMs: [] as number[], trackMs: [] as number[] }
  try {
    for (let start = 0; start < STARTS; start++) {
      const page = await (await browser.newContext()).newPage()
      await page.goto(url)
      await page.addScriptTag({ content: `{${script}}` })
      const [initializeMs, trackMs] = await page.evaluate<[number, number]>(`(async () => {
        const before = performance.now()
        const ready = client.initialize('key', { dataPlaneUrl: '${url}' })
        const initializeMs = performance.now() - before
        await ready
        const from = performance.now()
        for (let at = 0; at < ${BURST}; at++) client.track('Order Completed', { order_id: 'A-' + at, total: 39.9 })
        return [initializeMs, (performance.now() - from) / ${BURST}]
      })()`)
      times.initializeMs.push(initializeMs)
      times.trackMs.push(trackMs)
      await page.context().close()
    }
  } finally {
    await browser.close()
    server.close()
  }
  return times
}
