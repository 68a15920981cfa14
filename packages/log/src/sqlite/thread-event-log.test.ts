import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { testRecord } from '../conformance.ts'
import type { Offset } from '../event-log.ts'
import { LogFolders, openLog } from './log-folders.ts'
import type { SqliteEventLog } from './sqlite-event-log.ts'
import { ThreadEventLog } from './thread-event-log.ts'

const folders = new LogFolders()
afterAll(() => folders[Symbol.dispose]())

const PARTITION = 3
const PAGE = 16_384
const OPTIONS = { partitions: 16 }

async function offsetsRead(log: SqliteEventLog, reader: ThreadEventLog): Promise<Offset[]> {
  const offsets: Offset[] = []
  for (let from = 0; from < log.end(PARTITION); ) {
    const { records, next } = await reader.read(PARTITION, 'live', from, 1_000_000)
    offsets.push(...records.map(({ offset }) => offset))
    from = next
  }
  return offsets
}

test('a segment that a delivery thread passes over is set aside, wherever its damage is', async () => {
  const directory = folders.create()
  for (const count of [60, 5]) {
    await using log = await openLog(directory, OPTIONS)
    for (let i = 0; i < count; i++) await log.append(PARTITION, 'live', testRecord('source-a', `${i}`, 2_000))
  }
  const path = join(directory, '0.db')
  const damagedPage = Math.floor(readFileSync(path).indexOf('{"note":"40"') / PAGE)
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(PAGE, 'not what it was '), 0, PAGE, damagedPage * PAGE)
  closeSync(file)

  await using log = await openLog(directory, OPTIONS)
  const inspections: Promise<void>[] = []
  const reader = new ThreadEventLog(
    log.share(),
    (offset) => void inspections.push(log.inspect(offset)),
    () => {},
  )
  const read = await offsetsRead(log, reader)
  expect(read).not.toContain(40)
  expect(read.slice(-5)).toEqual([60, 61, 62, 63, 64])
  await Promise.all(inspections)
  expect(log.damaged()).toEqual([{ from: 0, to: 60 }])
  reader.close()
})

test('a delivery thread gives the space of a deleted segment back', async () => {
  const directory = folders.create()
  {
    await using log = await openLog(directory, OPTIONS)
    await log.append(PARTITION, 'live', testRecord('source-a', '0'))
  }
  await using log = await openLog(directory, OPTIONS)
  const reader = new ThreadEventLog(
    log.share(),
    () => {},
    () => {},
  )
  expect((await reader.read(PARTITION, 'live', 0, 1)).records).toHaveLength(1)
  for (let partition = 0; partition < 16; partition++) await log.retain(partition, 1, 0)
  expect(heldFiles(directory)).toEqual(['0.db (deleted)'])
  reader.releaseDeleted()
  expect(heldFiles(directory)).toEqual([])
  reader.close()
})

/** Deleted files of a folder that this process holds open. */
function heldFiles(directory: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${descriptor}`)
      return file.startsWith(`${directory}/`) && file.endsWith(' (deleted)') ? [file.slice(directory.length + 1)] : []
    } catch {
      return []
    }
  })
}
