import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Settings, urlOfServer } from '../../config/settings.ts'
import { threadCount } from '../../delivery-threads/thread-count.ts'
import { LOG_PARTITIONS } from '../../log-partitions.ts'
import { type Finding, ok } from './finding.ts'
import { rangesText } from './ranges-text.ts'

const ANSWER_MS = 5_000

/** How many threads deliver, what each owns and how busy it is, as the running server says; else how many would. */
export async function checkThreads(settings: Settings, isRunning: boolean): Promise<Finding> {
  const threads = isRunning ? await runningThreads(settings) : undefined
  if (threads !== undefined) return ok('threads', threads.map(shown).join('; '))
  const count = threadCount(settings)
  return ok(
    'threads',
    `${count === 1 ? '1 thread delivers' : `${count} threads deliver`} the ${LOG_PARTITIONS} partitions`,
  )
}

interface RunningThread {
  readonly number: number
  readonly partitions: readonly number[]
  readonly busyPercent: number
}

function shown({ number, partitions, busyPercent }: RunningThread): string {
  return `thread ${number} owns partitions ${rangesText(partitions)}, ${busyPercent} % busy`
}

/** Undefined if the server does not answer this machine's token. */
async function runningThreads({ dataDir, host, port }: Settings): Promise<RunningThread[] | undefined> {
  try {
    const headers = { Authorization: `Bearer ${readFileSync(join(dataDir, 'cli-token'), 'utf8').trim()}` }
    const response = await fetch(`${urlOfServer({ host, port })}/v2/admin/info`, {
      headers,
      signal: AbortSignal.timeout(ANSWER_MS),
      redirect: 'manual',
    })
    const { info } = (await response.json()) as { info?: { deliveryThreads?: RunningThread[] } }
    return info?.deliveryThreads
  } catch {
    return undefined
  }
}
