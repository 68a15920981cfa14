import { formatTime } from '@millrace/protocol'
import type { Ending } from '../ending.ts'
import type { Part } from '../parts/part.ts'

/** The answer of /health: 200 only while events can be stored and delivered. @see contracts/ingest.md §8 [D134] */
export async function health(parts: readonly Part[], { fault }: Ending, now: number, appType = 'EMBEDDED') {
  const checks: Record<string, string> = {}
  const stopped = new Set<string | undefined>()
  for (const part of parts) {
    for (const [name, { trouble, stops }] of Object.entries(part.checks ?? {})) {
      const text = await trouble()
      checks[name] = text ?? 'ok'
      if (text !== undefined) stopped.add(stops)
    }
  }
  const accepts = !stopped.has('accepting') && fault === undefined
  const routes = !stopped.has('routing') && fault === undefined
  return {
    status: accepts && routes ? 200 : 503,
    body: {
      appType,
      server: fault === undefined ? 'UP' : 'DOWN',
      db: accepts && routes ? 'UP' : 'DOWN',
      acceptingEvents: accepts ? 'TRUE' : 'FALSE',
      routingEvents: routes ? 'TRUE' : 'FALSE',
      mode: 'NORMAL',
      backendConfigMode: 'LOCAL',
      lastSync: formatTime(now),
      checks,
    },
  }
}
