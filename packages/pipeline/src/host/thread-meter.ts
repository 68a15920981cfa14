import { type EventLoopUtilization, performance } from 'node:perf_hooks'
import { threadCpuUsage } from 'node:process'

const WINDOW_MS = 10_000

/** How busy a thread that delivers is. */
export interface ThreadLoad {
  /** Share of the last 10 s or more in which the thread was not idle, 0 to 1. */
  readonly busy: number
  /** Processor time since the start, in ms. */
  readonly cpuMs: number
}

/** Measures the thread that it is called in, from one look to the next. */
export class ThreadMeter {
  #since: EventLoopUtilization = performance.eventLoopUtilization()

  load(): ThreadLoad {
    const now = performance.eventLoopUtilization()
    const { utilization: busy, active, idle } = performance.eventLoopUtilization(now, this.#since)
    if (active + idle >= WINDOW_MS) this.#since = now
    const { user, system } = threadCpuUsage()
    return { busy, cpuMs: (user + system) / 1_000 }
  }
}
