import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ManualClock } from '@millrace/std'
import { afterAll, expect, test } from 'vitest'
import { noteOf, readAllBack, scanAll, testRecord } from '../conformance.ts'
import { LogFolders, openLog, segmentFiles } from './log-folders.ts'

const folders = new LogFolders()
afterAll(() => folders[Symbol.dispose]())

/** A closed segment for each note, and then a log that is open. */
async function segments(directory: string, notes: readonly string[]) {
  const clock = new ManualClock(Date.parse('2026-03-04T09:00:00.000Z'))
  for (const note of notes) {
    await using log = await openLog(directory, { clock })
    await log.append(0, 'live', testRecord('source-a', note))
  }
  return openLog(directory, { clock })
}

test('reading back goes over segments that are closed, that are written, and that are empty', async () => {
  await using log = await segments(folders.create(), ['0', '1', '2'])
  expect((await readAllBack(log, 0, log.end(0))).map(noteOf)).toEqual(['2', '1', '0'])
  await log.append(0, 'backfill', testRecord('source-a', '3'))
  await log.append(0, 'live', testRecord('source-a', '4'))
  expect((await readAllBack(log, 0, log.end(0))).map(noteOf)).toEqual(['4', '3', '2', '1', '0'])
  expect((await scanAll(log, 0, 1)).map(noteOf)).toEqual(['1', '2', '3', '4'])
})

test('segments go on being closed while they are read back', async () => {
  const directory = folders.create()
  await using log = await openLog(directory, { segmentBytes: 20_000 })
  await log.append(0, 'live', testRecord('source-a', '0', 20))
  const written = (async () => {
    for (let i = 1; i < 150; i++) await log.append(0, 'live', testRecord('source-a', `${i}`, 20))
  })()
  let isWriting = true
  void written.then(() => {
    isWriting = false
  })
  while (isWriting) {
    const notes = (await readAllBack(log, 0, log.end(0), 20_000)).map((record) => Number(noteOf(record)))
    expect(notes).toEqual(notes.map((_, i) => notes.length - 1 - i))
  }
  await written
  expect(segmentFiles(directory).length).toBeGreaterThan(5)
})

test('what retention dropped is not found; a search passes over a damaged segment, and a scan has it set aside', async () => {
  const directory = folders.create()
  await using log = await segments(directory, ['0', '1', '2', '3'])
  await log.retain(0, 1, 0)
  const damaged = join(directory, '2.db')
  const bytes = readFileSync(damaged)
  bytes.fill(0x55, 100)
  writeFileSync(damaged, bytes)
  expect((await readAllBack(log, 0, log.end(0))).map(noteOf)).toEqual(['3', '1'])
  expect(segmentFiles(directory).slice(0, 3)).toEqual(['1.db', '2.db', '3.db'])
  expect((await scanAll(log, 0, 0)).map(noteOf)).toEqual(['1', '3'])
  expect(segmentFiles(directory).slice(0, 2)).toEqual(['1.db', '3.db'])
  expect(log.damaged()).toEqual([{ from: 2, to: 3 }])
})

test('a record that fails its checksum is passed over alone', async () => {
  const directory = folders.create()
  {
    await using log = await openLog(directory)
    for (const note of ['whole', 'broken', 'fine']) await log.append(0, 'live', testRecord('source-a', note))
  }
  const file = join(directory, '0.db')
  const bytes = readFileSync(file)
  bytes.write('BROKEN', bytes.indexOf('"broken"') + 1)
  writeFileSync(file, bytes)
  await using log = await openLog(directory)
  expect((await readAllBack(log, 0, log.end(0))).map(noteOf)).toEqual(['fine', 'whole'])
})

test('a log that was closed reads nothing back', async () => {
  const log = await openLog(folders.create())
  await log.append(0, 'live', testRecord('source-a', '0'))
  await log.readBack(0, log.end(0), 1)
  await log[Symbol.asyncDispose]()
  await expect(log.readBack(0, 1, 1)).rejects.toMatchObject({ code: 'LOG_UNAVAILABLE' })
})
