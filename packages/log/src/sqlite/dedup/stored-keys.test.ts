import { randomFillSync } from 'node:crypto'
import { closeSync, openSync, statSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { messageHash } from '@millrace/protocol'
import { ManualClock } from '@millrace/std'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testRecord } from '../../conformance.ts'
import { MAX_ATTEMPT_EVENTS } from '../../dedup/attempts.ts'
import { MAX_DEDUP_WINDOW_MS } from '../../dedup.ts'
import { LogFolders, notesIn, openLog, segmentFiles } from '../log-folders.ts'
import type { SqliteEventLog } from '../sqlite-event-log.ts'

/* The log thread reads stored keys while appends wait. Here records are damaged where a read that is not needed finds it. */

const folders = new LogFolders()
afterAll(() => folders[Symbol.dispose]())

const NOW = Date.parse('2026-03-04T09:00:00.000Z')
const PAGE = 16_384

function recordOf(acceptedAt: number, messageHashes: Buffer) {
  const record = testRecord('source-a', 'note')
  return { ...record, header: { ...record.header, acceptedAt, messageHashes } }
}

/** Records of 3 KB that no rule covers. */
async function appendUnmarked(log: SqliteEventLog, count: number): Promise<void> {
  const plain = Array.from({ length: count }, (_, i) => testRecord('source-a', `${i}`, 60))
  const recent = plain.map((record) => ({ ...record, header: { ...record.header, acceptedAt: NOW } }))
  await Promise.all(recent.map((record) => log.append(0, 'live', record)))
}

function damageMiddle(file: string): void {
  const pages = Math.floor(statSync(file).size / PAGE)
  const opened = openSync(file, 'r+')
  for (let page = Math.floor(pages / 4); page < pages / 2; page++)
    writeSync(opened, Buffer.alloc(PAGE, 'junk'), 0, PAGE, page * PAGE)
  closeSync(opened)
}

async function repeat(
  log: SqliteEventLog,
  messageId = 'a',
  acceptedAt = NOW,
): Promise<ReadonlySet<number> | undefined> {
  const offset = await log.append(0, 'live', recordOf(acceptedAt, messageHash(messageId)), { attempt: 'repeat' })
  return (await log.get(0, [offset]))[0]!.duplicates
}

describe('a closed segment without marked batches is not read', () => {
  const unmarked = folders.create()
  beforeAll(async () => {
    {
      await using log = await openLog(unmarked)
      await appendUnmarked(log, 200)
    }
    damageMiddle(join(unmarked, '0.db'))
    await using log = await openLog(folders.copy(unmarked))
    await notesIn(log)
    expect(log.damaged()).toHaveLength(1)
  })

  test.each<[string, boolean, (log: SqliteEventLog) => Promise<unknown>]>([
    ['a start with a window', true, async () => {}],
    ['the first repeat', false, repeat],
    ['its deletion', false, (log) => log.retain(0, 200, 0)],
  ])('by %s', async (_, hasDedup, work) => {
    const directory = folders.copy(unmarked)
    await using log = await openLog(directory, { clock: new ManualClock(NOW), hasDedup })
    await work(log)
    expect([log.damaged(), segmentFiles(directory, '.damaged')]).toEqual([[], []])
  })
})

test('the first marked batch of an open segment is written without a read of the records before it', async () => {
  const directory = folders.create()
  await using log = await openLog(directory)
  // More than the 2 MB of pages that SQLite keeps.
  await appendUnmarked(log, 1_500)
  damageMiddle(join(directory, '0.db-wal'))
  const first = recordOf(NOW, messageHash('a'))
  await log.append(0, 'live', first, { attempt: 'first' })
  expect(await repeat(log)).toEqual(new Set([0]))
  expect(log.damaged()).toEqual([])
})

test.each([true, false])(
  'keys of older segments than two days are not read; a source has a window: %s',
  async (hasDedup) => {
    const directory = folders.create()
    for (const daysAgo of [9, 6, 0]) {
      await using log = await openLog(directory)
      const record = recordOf(NOW - daysAgo * MAX_DEDUP_WINDOW_MS, messageHash(`${daysAgo}`))
      await log.append(0, 'live', record, { attempt: 'exit' })
    }
    truncateSync(join(directory, '0.db'), 100)
    await using log = await openLog(directory, { hasDedup })
    expect([await repeat(log, '0'), await repeat(log, '6')]).toEqual([new Set([0]), undefined])
    expect(log.damaged()).toEqual([])
  },
)

test('keys are not read from older segments than the last 1,000,000 of each kind', async () => {
  const directory = folders.create()
  {
    await using log = await openLog(directory)
    await log.append(0, 'live', recordOf(NOW, messageHash('a')), { attempt: 'exit' })
  }
  {
    await using log = await openLog(directory)
    for (let events = 0; events < MAX_ATTEMPT_EVENTS; events += 100_000) {
      const hashes = () => recordOf(NOW, randomFillSync(Buffer.alloc(8 * 100_000)))
      await log.append(0, 'live', hashes(), { attempt: 'exit' })
      await log.append(0, 'live', hashes(), { attempt: 'first' })
    }
  }
  truncateSync(join(directory, '0.db'), 100)
  await using log = await openLog(directory)
  await log.append(0, 'live', recordOf(NOW, messageHash('b')), { attempt: 'first' })
  expect([await repeat(log, 'a'), await repeat(log, 'b')]).toEqual([undefined, new Set([0])])
  expect(log.damaged()).toEqual([])
})
