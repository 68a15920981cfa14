import { randomFillSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Dedup, MAX_DEDUP_WINDOW_MS, SqliteEventLog } from '@millrace/log'
import { type EventRecord, MESSAGE_HASH_BYTES } from '@millrace/protocol'
import { systemClock } from '@millrace/std'
import type { Bench } from '../bench.ts'
import { BATCHES } from '../bursts.ts'
import { alternate } from '../comparison.ts'
import { newEvent } from '../events.ts'
import { recordOf } from '../log/record.ts'
import type { Measured, Row } from '../row.ts'
import { median, middleHalf } from '../statistics.ts'

/*
 * P21b: P21 without HTTP: what a rule of dedup adds to the CPU of the log, all of its threads counted. The difference is a small part of an
 * event's CPU, which the rows with a whole product do not resolve where the machine is not quiet.
 */

const ROUNDS = 200
const WARM_UP_APPENDS = 3_000
const COUNTED_APPENDS = 300

export const duplicatesInLogRows: readonly Row[] = [
  rowOf('window of a day', '5 %', { windowMs: MAX_DEDUP_WINDOW_MS }),
  rowOf('batches that are remembered for repeats', '1 %', { attempt: 'first' }),
]

/** @param share of the CPU of an event of P1, as the first lines of P21 show it. */
function rowOf(words: string, share: string, dedup: Dedup): Row {
  return {
    name: 'P21b',
    figure: `the log alone, ${words}: CPU added to an event`,
    goal: `≤ ${share} of P1`,
    measure: (bench) => measure(bench, dedup),
  }
}

async function measure(bench: Bench, dedup: Dedup): Promise<Measured> {
  const directory = await mkdtemp(path.join(tmpdir(), 'millrace-bench-log-'))
  try {
    await using log = await SqliteEventLog.open({ directory, clock: systemClock })
    const withoutRule = () => cpuMicrosPerEvent(log, COUNTED_APPENDS)
    const withRule = () => cpuMicrosPerEvent(log, COUNTED_APPENDS, dedup)
    await cpuMicrosPerEvent(log, WARM_UP_APPENDS)
    await cpuMicrosPerEvent(log, WARM_UP_APPENDS, dedup)
    const { product, limit } = await alternate(bench.isSmall ? 1 : ROUNDS, withoutRule, withRule)
    const added = product.map((each, i) => each - limit[i]!)
    const shown = (value: number) => `${value.toFixed(2)} µs`
    return {
      measured: shown(median(added)),
      spread: middleHalf(added).map(shown).join('–'),
      samples: { product, limit },
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function cpuMicrosPerEvent(log: SqliteEventLog, appends: number, dedup?: Dedup): Promise<number> {
  const records = Array.from({ length: appends }, newRecord)
  const before = process.cpuUsage()
  await Promise.all(
    Array.from({ length: BATCHES.connections }, async () => {
      for (let record = records.pop(); record !== undefined; record = records.pop()) {
        await log.append(0, 'live', record, dedup)
      }
    }),
  )
  const { user, system } = process.cpuUsage(before)
  return (user + system) / (appends * BATCHES.batch)
}

const BODY = Buffer.from(
  JSON.stringify({ batch: Array.from({ length: BATCHES.batch }, (_, i) => newEvent({ run: 0 }, i, i)) }),
)

/** None of its messageIds was sent before. */
function newRecord(): EventRecord {
  return recordOf(BODY, randomFillSync(Buffer.allocUnsafe(BATCHES.batch * MESSAGE_HASH_BYTES)))
}
