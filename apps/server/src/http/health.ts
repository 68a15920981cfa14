import type { EventLog } from '@millrace/log'
import { formatTime } from '@millrace/protocol'
import type { DiskSpace } from '../disk-space.ts'

export interface HealthSources {
  readonly log: Pick<EventLog, 'check'>
  readonly disk: DiskSpace
  readonly catalogTrouble: () => string | undefined
  readonly deliveryTrouble: () => string | undefined
  /** No trouble, but soon something will be given up. */
  readonly backlogWarning: () => string | undefined
  /** Threads that only read and end again and again: others answer in their place, later. */
  readonly readerTrouble: () => string | undefined
  /** Why the process is about to end, if it is. */
  readonly fault: () => string | undefined
  readonly now: () => number
}

/** The answer of /health: 200 only while events can be stored and delivered. @see contracts/ingest.md §8 [D134] */
export async function health(sources: HealthSources) {
  const { log, disk, catalogTrouble, deliveryTrouble, backlogWarning, readerTrouble, now } = sources
  const fault = sources.fault()
  const logTrouble = await log.check().then(
    () => undefined,
    (error: Error) => error.message,
  )
  const diskTrouble = disk.trouble()
  const delivery = deliveryTrouble()
  const accepts = logTrouble === undefined && diskTrouble === undefined && fault === undefined
  const routes = delivery === undefined && fault === undefined
  return {
    status: accepts && routes ? 200 : 503,
    body: {
      appType: 'EMBEDDED',
      server: fault === undefined ? 'UP' : 'DOWN',
      db: accepts && routes ? 'UP' : 'DOWN',
      acceptingEvents: accepts ? 'TRUE' : 'FALSE',
      routingEvents: routes ? 'TRUE' : 'FALSE',
      mode: 'NORMAL',
      backendConfigMode: 'LOCAL',
      lastSync: formatTime(now()),
      checks: {
        log: logTrouble ?? 'ok',
        disk: diskTrouble ?? 'ok',
        config: 'ok',
        catalog: catalogTrouble() ?? 'ok',
        delivery: delivery ?? 'ok',
        backlog: backlogWarning() ?? 'ok',
        readers: readerTrouble() ?? 'ok',
      },
    },
  }
}
