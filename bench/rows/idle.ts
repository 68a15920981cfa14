import { setTimeout as delay } from 'node:timers/promises'
import type { Bench } from '../bench.ts'
import { cpuMs, residentBytes } from '../process-usage.ts'
import { addSource, startProduct } from '../product.ts'
import type { Program } from '../programs.ts'
import type { Measured, Row } from '../row.ts'

/* P10: the product with a source and a webhook, and nothing to do. */

const SETTLING_MS = 5_000
const WATCHED_MS = 60_000

export const idleRow: Row = {
  name: 'P10',
  figure: 'idle: resident memory / CPU over a minute',
  goal: '≤ 200 MB / ≤ 1 % of a core',
  measure: (bench) => (bench.against === undefined ? measure(bench) : compare(bench, bench.against)),
}

async function measure(bench: Bench): Promise<Measured> {
  await using product = await startProduct(bench)
  await addSource(product, bench.sinkUrl())
  const { residentMb, cpuPercent } = await idle(product)
  return {
    measured: shownIdle({ residentMb, cpuPercent }),
    samples: { residentMb: [residentMb], cpuPercent: [cpuPercent] },
  }
}

/** Both in the same minute. The ratio is that of memory. */
async function compare(bench: Bench, checkout: string): Promise<Measured> {
  await using other = await startProduct({ checkout })
  await using product = await startProduct(bench)
  for (const each of [other, product]) await addSource(each, bench.sinkUrl())
  const [limit, measured] = await Promise.all([idle(other), idle(product)])
  return comparedIdle(measured, limit)
}

export function comparedIdle(measured: Idle, limit: Idle): Measured {
  return {
    measured: shownIdle(measured),
    limit: shownIdle(limit),
    ratio: measured.residentMb / limit.residentMb,
    samples: {
      residentMb: [measured.residentMb, limit.residentMb],
      cpuPercent: [measured.cpuPercent, limit.cpuPercent],
    },
  }
}

export interface Idle {
  readonly residentMb: number
  /** Of a core. */
  readonly cpuPercent: number
}

/** Lets a program alone for a minute, once it has settled. */
export async function idle({ pid }: Program): Promise<Idle> {
  await delay(SETTLING_MS)
  const cpuBefore = cpuMs(pid)
  await delay(WATCHED_MS)
  return {
    cpuPercent: ((cpuMs(pid) - cpuBefore) / WATCHED_MS) * 100,
    residentMb: residentBytes(pid) / 1e6,
  }
}

function shownIdle({ residentMb, cpuPercent }: Idle): string {
  return `${residentMb.toFixed(0)} MB / ${cpuPercent.toFixed(2)} %`
}
