import type { Bench } from '../bench.ts'
import { residentBytes } from '../process-usage.ts'
import { addSource, startProduct } from '../product.ts'
import type { Measured, Row } from '../row.ts'

/*
 * P13: an hour of 2,000 events/s for a destination that is not there, sent ten times as fast: what memory there is for does
 * not depend on the time but on what waits. No budget gives anything up.
 */

const PACE = 20_000
const SHAPE = { batch: 10, connections: 32 }
const TIMEOUT_MS = 300_000
/** Sent between two looks, and made beforehand in the load's memory. */
const EVENTS_OF_STEP = 60_000
const FULL = { events: 2_000 * 3_600, early: 2_000 * 300 }
const SMALL = { events: 240_000, early: 60_000 }

export const outageRow: Row = {
  name: 'P13',
  figure: 'memory at most during an hour of outage at 2,000 events/s, against that of its first five minutes',
  goal: '≤ 1.3',
  measure,
}

async function measure(bench: Bench): Promise<Measured> {
  const { events, early } = bench.isSmall ? SMALL : FULL
  await using product = await startProduct({ environment: { MILLRACE_BACKLOG_MAX_MB: '0' } })
  const writeKey = await addSource(product, bench.deadUrl)
  const megabytes: number[] = []
  for (let sent = 0; sent < events; sent += EVENTS_OF_STEP) {
    const run = { run: bench.nextRun(), port: product.port, writeKey, ...SHAPE }
    await bench.load.call('run', { ...run, events: EVENTS_OF_STEP, eventsPerSecond: PACE }, TIMEOUT_MS)
    megabytes.push(residentBytes(product.pid) / 1e6)
  }
  const earlySteps = early / EVENTS_OF_STEP
  const limit = Math.max(...megabytes.slice(0, earlySteps))
  const most = Math.max(...megabytes.slice(earlySteps))
  return {
    measured: `${most.toFixed(0)} MB`,
    limit: `${limit.toFixed(0)} MB`,
    ratio: most / limit,
    samples: { megabytes },
  }
}
