import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EventRecord, messageHash } from '@millrace/protocol'
import { systemClock } from '@millrace/std'
import { afterAll, expect, test } from 'vitest'
import type { Stream } from '../event-log.ts'
import { ForwardReader } from './forward-reader.ts'
import { SqliteEventLog } from './sqlite-event-log.ts'

const root = mkdtempSync(join(tmpdir(), 'millrace-forward-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

test('reads each stream in order, over segments that are closed meanwhile, and nothing twice', async () => {
  const directory = join(root, 'log')
  await using log = await SqliteEventLog.open({ directory, clock: systemClock, segmentBytes: 40_000 })
  const damage: unknown[] = []
  const reader = new ForwardReader(directory, (...what) => damage.push(what))
  const sent: Record<Stream, string[]> = { live: [], import: [] }
  const read: Record<Stream, string[]> = { live: [], import: [] }
  const positions: Record<Stream, number> = { live: 0, import: 0 }
  for (let n = 0; n < 60; n++) {
    const stream = n % 3 === 0 ? 'import' : 'live'
    await log.append(stream, recordOf(`${n}`))
    sent[stream].push(`${n}`)
    if (n % 7 === 0) follow()
  }
  follow()
  expect(read).toEqual(sent)
  expect(positions).toEqual({ live: log.end(), import: log.end() })
  expect(damage).toEqual([])

  function follow(): void {
    for (const each of ['live', 'import'] as const) {
      for (let count = -1; count !== 0; ) {
        const { records, next } = reader.read(each, positions[each], log.end(), 1_000)
        positions[each] = next
        count = records.length
        read[each].push(...records.map(({ body }) => Buffer.from(body).toString()))
      }
    }
  }
})

test('tells which events are duplicates', async () => {
  const directory = join(root, 'dedup')
  await using log = await SqliteEventLog.open({ directory, clock: systemClock, hasDedup: true })
  for (const _ of [1, 2]) await log.append('live', recordOf('same'), { windowMs: 60_000 })
  const { records } = new ForwardReader(directory, () => {}).read('live', 0, log.end(), 1_000_000)
  expect(records.map(({ duplicates }) => duplicates && [...duplicates])).toEqual([undefined, [0]])
})

function recordOf(text: string): EventRecord {
  const header = {
    sourceId: 'source',
    route: 'track' as const,
    acceptedAt: Date.now(),
    clientAddress: '127.0.0.1',
    seed: new Uint8Array(16),
    rules: 1,
    messageHashes: messageHash('m'),
  }
  return { header, body: Buffer.from(text) }
}
