import { join } from 'node:path'
import { type Span, SqliteDeliveryStore } from '@millrace/delivery'
import { SqliteEventLog, STREAMS } from '@millrace/log'
import type { Clock } from '@millrace/std'
import { LOG_PARTITIONS } from '../log-partitions.ts'

/** Undelivered events of one destination. */
export interface Redelivery {
  readonly destinationId: string
  readonly destinationName: string
  /** Events of its sources without an outcome; filters may exclude some of them. */
  readonly events: number
}

/**
 * Counts, for each destination, the events that a server will deliver after it starts on a data folder.
 *
 * @param folder no other process has it open.
 * @param names of the destinations, by id.
 */
export async function redeliveries(
  folder: string,
  names: ReadonlyMap<string, string>,
  clock: Clock,
): Promise<readonly Redelivery[]> {
  const store = await SqliteDeliveryStore.open({ file: join(folder, 'delivery.db'), clock, logger: SILENT })
  try {
    const positions = await store.outcomes.positions()
    const notBefore = Math.max(0, ...positions.map(({ position }) => position.offset))
    const directory = join(folder, 'log')
    await using log = await SqliteEventLog.open({ directory, partitions: LOG_PARTITIONS, clock, notBefore })
    const spans = await store.spans.all()
    const partitions = [...Array(log.partitions).keys()]
    const found: Redelivery[] = []
    for (const [destinationId, destinationName] of names) {
      const connected = spans.filter((span) => span.kind === 'connection' && span.destinationId === destinationId)
      const own = positions.filter(({ reader }) => reader === destinationId)
      const start: StartOf = (partition, stream) =>
        own.find((row) => row.partition === partition && row.stream === stream)?.position.offset ?? 0
      const { waiting, done } = await store.outcomes.resume({ destinationId, partitions })
      // The count of the log includes waits after the starting place.
      const behind = waiting.filter(({ partition, offset, stream }) => offset < start(partition, stream)).length
      const inLog = await countInLog(log, connected, start)
      const events = Math.max(behind, behind + inLog - done.length)
      found.push({ destinationId, destinationName, events })
    }
    return found
  } finally {
    await store.close()
  }
}

/** The offset from which a destination still has to read a partition. */
type StartOf = (partition: number, stream: number) => number

async function countInLog(log: SqliteEventLog, connected: readonly Span[], start: StartOf): Promise<number> {
  let events = 0
  for (const { sourceId, partition, fromOffset, toOffset } of connected) {
    for (const [stream, name] of STREAMS.entries()) {
      const from = Math.max(start(partition, stream), fromOffset)
      const to = Math.max(from, toOffset ?? log.end(partition))
      events += (await log.tally(partition, name, { from, to })).get(sourceId)?.events ?? 0
    }
  }
  return events
}

const SILENT = { error() {}, info() {} }
