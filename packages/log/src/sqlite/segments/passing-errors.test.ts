import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodedSize, encodeRecord } from '@millrace/protocol/record'
import { afterAll, expect, test } from 'vitest'
import { testRecord } from '../../conformance.ts'
import { LogFolders, openLog } from '../log-folders.ts'
import type { Commit } from './commit.ts'
import { Segments } from './segments.ts'
import { streamNumber } from './stream-number.ts'

/* A disk may fail to read for a moment: no segment is set aside for that. */

const folders = new LogFolders()
afterAll(() => folders[Symbol.dispose]())

function bytesOf(note: string): Uint8Array {
  const record = testRecord('source-a', note)
  const bytes = Buffer.alloc(encodedSize(record))
  encodeRecord(record, bytes, 0)
  return bytes
}

test('a failed commit of the first record of a partition leaves the open segment as it was, also if nothing can be read', async () => {
  const directory = folders.create()
  const damaged: unknown[] = []
  const segments = new Segments({
    ...{ directory, notBefore: 0, hasDedup: false, segmentBytes: 1e9, segmentMs: 3_600_000 },
    onDamage: (range) => damaged.push(range),
  })
  const append = (partition: number, counts: Commit['tallies'][0]['counts'] = []) => {
    const stream = streamNumber(partition, 'live')
    segments.append({ entries: [{ stream, bytes: bytesOf('note') }], tallies: [{ stream, counts }] })
  }
  append(0)
  const wal = join(directory, '0.db-wal')
  const written = readFileSync(wal)
  const failing = {
    toJSON() {
      truncateSync(wal)
      throw new Error('disk I/O error')
    },
  }
  expect(() => append(7, failing as never)).toThrow('disk I/O error')
  writeFileSync(wal, written, { flag: 'r+' })
  expect(segments.read(streamNumber(7, 'live'), 0, 1_000).records).toEqual([])
  append(7)
  const found = [0, 7].map((partition) => segments.read(streamNumber(partition, 'live'), 0, 1_000).records.length)
  await segments.close()
  expect([found, damaged]).toEqual([[1, 1], []])
})

test('a record that fails its checksum is read once more from the disk before its segment is set aside', async () => {
  const directory = folders.create()
  {
    await using log = await openLog(directory)
    for (const note of ['first', 'second']) await log.append(0, 'live', testRecord('source-a', note))
  }
  const path = join(directory, '0.db')
  const intact = readFileSync(path)
  const misread = Buffer.from(intact)
  misread[misread.indexOf('{"note":"second"') + 9]! ^= 1
  writeFileSync(path, misread, { flag: 'r+' })
  await using log = await openLog(directory)
  // Both records are on one page, which SQLite keeps.
  await log.get(0, [0])
  writeFileSync(path, intact, { flag: 'r+' })
  expect([await log.get(0, [1]), log.damaged()]).toEqual([[expect.objectContaining({ offset: 1 })], []])
})
