import { Chromium } from '../../tests/sdk/chromium.ts'
import type { Collector } from './collector.ts'
import type { Bundle } from './peers.ts'

const STARTS = 10
const BURST = 100

export interface StartCost {
  /** Evaluating the script and the synchronous part of starting the client. */
  readonly startMs: readonly number[]
  /** The synchronous part of recording an event: the mean of a burst of 100. */
  readonly trackMs: readonly number[]
}

/** A page with an origin's storage empty for each start. */
export async function startCost(bundle: Bundle, collector: Collector): Promise<StartCost> {
  collector.page = '<!doctype html><title>Shop</title>'
  await using chromium = await Chromium.open()
  const costs = { startMs: [] as number[], trackMs: [] as number[] }
  for (let start = 0; start < STARTS; start++) {
    const page = await chromium.page(collector.url)
    await page.evaluate('localStorage.clear()')
    await page.evaluate(`globalThis.script = ${JSON.stringify(bundle.text)}`)
    const [startMs, trackMs] = await page.evaluate<[number, number]>(`(async () => {
      const from = performance.now()
      ;(0, eval)(script)
      const started = peer.start('${collector.url}')
      const startMs = performance.now() - from
      await started
      const before = performance.now()
      for (let at = 0; at < ${BURST}; at++) peer.track('Order Completed')
      return [startMs, (performance.now() - before) / ${BURST}]
    })()`)
    costs.startMs.push(startMs)
    costs.trackMs.push(trackMs)
    await page.close()
  }
  return costs
}
