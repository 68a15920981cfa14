import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type EventLog, type LogWriter, SqliteEventLog } from '@millrace/log'
import { KafkaEventLog } from '@millrace/log/kafka'
import { KafkaCluster } from '@millrace/log/kafka-brokers'
import { type EventRecord, messageHash } from '@millrace/protocol'
import { systemClock } from '@millrace/std'
import { recordOf } from './record.ts'

/*
 * Appends a second and their latency: the log on SQLite beside the log on Kafka with one broker, or with three when asked.
 * Each writer appends a batch of ten events (5 KB), waits for it, and appends the next one. The CPU is that of this process,
 * with SQLite's threads, without the brokers.
 *
 *     node bench/log/main.ts [3]
 */

const WRITERS = [1, 16, 64, 256]
const PARTITIONS = 16
const WARM_UP_MS = 1_000
const MEASURED_MS = 5_000

type Log = EventLog & LogWriter & AsyncDisposable

const brokers = process.argv[2] === '3' ? 3 : 1
const record = newRecord()
console.log('                     writers   appends/s   p50 ms   p99 ms   CPU µs/append')

const directory = await mkdtemp(path.join(tmpdir(), 'millrace-bench-log-'))
await using sqlite = await SqliteEventLog.open({ directory, clock: systemClock, partitions: PARTITIONS })
await compare('SQLite', sqlite, PARTITIONS)
await using cluster = await KafkaCluster.start({ brokers })
await using kafka = await KafkaEventLog.open({
  kafka: { brokers: cluster.addresses },
  prefix: 'bench',
  clock: systemClock,
  partitions: PARTITIONS,
  retentionMs: 3_600_000,
  maxRecordBytes: 4 * 1024 * 1024,
  isUnsafeAllowed: brokers === 1,
})
await compare(`Kafka, ${brokers} broker${brokers === 1 ? '' : 's'}`, kafka, PARTITIONS)
await rm(directory, { recursive: true, force: true })

async function compare(name: string, log: Log, partitions: number): Promise<void> {
  for (const writers of WRITERS) {
    await run(log, partitions, writers, WARM_UP_MS)
    const cpuBefore = process.cpuUsage()
    const took = await run(log, partitions, writers, MEASURED_MS)
    const { user, system } = process.cpuUsage(cpuBefore)
    const cpuMicros = (user + system) / took.length
    took.sort((a, b) => a - b)
    const at = (share: number) => took[Math.floor(took.length * share)]!.toFixed(2).padStart(9)
    const perSecond = Math.round((took.length * 1000) / MEASURED_MS)
    const cells = [
      String(writers).padStart(8),
      String(perSecond).padStart(12),
      at(0.5),
      at(0.99),
      cpuMicros.toFixed(0).padStart(16),
    ]
    console.log(name.padEnd(20) + cells.join(''))
  }
}

/** @returns the milliseconds of each append. */
async function run(log: Log, partitions: number, writers: number, forMs: number): Promise<number[]> {
  const took: number[] = []
  const end = performance.now() + forMs
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let startedAt = performance.now(); startedAt < end; ) {
        await log.append(writer % partitions, 'live', record)
        const now = performance.now()
        took.push(now - startedAt)
        startedAt = now
      }
    }),
  )
  return took
}

function newRecord(): EventRecord {
  const batch = Array.from({ length: 10 }, (_, i) => ({
    type: 'track',
    userId: `user-${i}`,
    messageId: `message-${i}`,
    event: 'Seat Reserved',
    properties: { hall: 'B', row: i, text: 'x'.repeat(380) },
  }))
  const hashes = Buffer.concat(batch.map(({ messageId }) => messageHash(messageId)))
  return recordOf(Buffer.from(JSON.stringify({ batch })), hashes)
}
