import { writeSync } from 'node:fs'
import { PostgresPool } from '@millrace/postgres'
import { systemClock } from '@millrace/std'
import { PostgresLimits } from '../postgres-limits.ts'

/*
 * A process with two lanes of a destination that always have events for its throttle. It prints when each of them goes, in ms of the
 * machine's monotonic clock. Arguments: url, schema, name of the process, limit, seconds of its window.
 */
const [url, schema, name, limit, windowSeconds] = process.argv.slice(2) as [string, string, string, string, string]
const logger = { info: () => {}, warn: () => {} }
const pool = new PostgresPool({ url, schema, applicationName: name, logger, connections: 2 })
const limits = new PostgresLimits({
  ...{ pool, process: name, clock: systemClock, logger },
  ...{ others: async () => new Map(), members: () => 1 },
})
const throttle = { limit: Number(limit), windowSeconds: Number(windowSeconds) }
const settings = { concurrency: 10, throttle, revision: 1 }

for (const lane of [1, 2]) {
  let timer: NodeJS.Timeout | undefined
  const pump = () => {
    clearTimeout(timer)
    for (;;) {
      const waitMs = own.takeThrottle(false, systemClock.monotonic())
      if (waitMs > 0) {
        timer = setTimeout(pump, waitMs)
        return
      }
      writeSync(1, `${Number(process.hrtime.bigint() / 1_000n) / 1_000} ${lane}\n`)
    }
  }
  const own = limits.of('d1').join(settings, pump, systemClock.monotonic())
  pump()
}
