import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ManualClock } from '@millrace/std'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { testRecord } from '../conformance.ts'
import { LogFolders, notesIn, openLog, segmentFiles } from './log-folders.ts'
import type { SqliteEventLog } from './sqlite-event-log.ts'

// Disks that are full and directories that nobody may write: for both this has to be root on Linux.
const folders = new LogFolders()
const mounts: string[] = []
afterEach(() => {
  for (const mount of mounts.splice(0)) execFileSync('umount', ['-l', mount])
})
afterAll(() => folders[Symbol.dispose]())

const MEGABYTE = 1024 * 1024
const unavailable = expect.objectContaining({ name: 'LogUnavailableError', code: 'LOG_UNAVAILABLE' })
const canMount = works(() => {
  smallDisk(1)
  execFileSync('umount', [mounts.pop()!])
})
const canForbid = works(() => {
  const file = join(folders.root, 'forbidden')
  writeFileSync(file, '')
  execFileSync('chattr', ['+i', file])
  execFileSync('chattr', ['-i', file])
})
if (!canMount) process.stderr.write('SKIPPED, for nothing can be mounted here: a full disk\n')
if (!canForbid) process.stderr.write('SKIPPED, for chattr does not work here: a directory that nobody may write\n')

function works(attempt: () => void): boolean {
  try {
    attempt()
    return true
  } catch {
    return false
  }
}

function smallDisk(megabytes: number): string {
  const mount = folders.create()
  mkdirSync(mount)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', mount], { stdio: 'pipe' })
  mounts.push(mount)
  return mount
}

/** Fills a disk to the last page. */
function fill(mount: string): { free: () => void } {
  const file = join(mount, 'ballast')
  for (const bytes of [Buffer.alloc(MEGABYTE), Buffer.alloc(4_096)]) {
    while (works(() => writeFileSync(file, bytes, { flag: 'a' })));
  }
  return { free: () => rmSync(file) }
}

/** Appends until one is refused. @returns the notes of those that were not. */
async function appendUntilRefused(log: SqliteEventLog, prefix: string): Promise<string[]> {
  const accepted: string[] = []
  for (let i = 0; ; i++) {
    try {
      await log.append(0, 'live', testRecord('source-a', `${prefix}-${i}`, 20))
      accepted.push(`${prefix}-${i}`)
    } catch (error) {
      expect(error).toEqual(unavailable)
      return accepted
    }
  }
}

/** One probe, as the clock would bring it after a second. */
async function probe(log: SqliteEventLog, clock: ManualClock): Promise<void> {
  await clock.advance(1_000)
  await log.oldest(0)
}

describe.skipIf(!canMount)('on a full disk', () => {
  for (const [name, segmentBytes] of [
    ['in the midst of a segment', 2 ** 30],
    ['when a new segment is due', 150_000],
  ] as const) {
    test(`${name}: appends are refused, nothing half-written is found, and all is well once there is space`, async () => {
      const directory = smallDisk(6)
      const clock = new ManualClock(0)
      const expected: string[] = []
      {
        await using log = await openLog(directory, { clock, segmentBytes })
        expected.push(...(await appendUntilRefused(log, 'first')))
        for (let round = 0; round < 3; round++) {
          const ballast = fill(directory)
          // A probe may find room where the refused commit was; a commit of this size does not.
          await probe(log, clock)
          await expect(log.append(0, 'live', testRecord('source-a', 'refused', 500))).rejects.toEqual(unavailable)
          expect(log.trouble()).toMatch(/full|I\/O/)
          expect(await notesIn(log)).toEqual(expected)
          ballast.free()
          // Room for more than there was at first.
          execFileSync('mount', ['-o', `remount,size=${8 + 2 * round}m`, directory])
          await probe(log, clock)
          expect(log.trouble()).toBeUndefined()
          expected.push(...(await appendUntilRefused(log, `round-${round}`)))
          expect(await notesIn(log)).toEqual(expected)
        }
        execFileSync('mount', ['-o', 'remount,size=40m', directory])
        await probe(log, clock)
      }
      await using again = await openLog(directory, { clock, segmentBytes })
      expect(await notesIn(again)).toEqual(expected)
      expect(again.damaged()).toEqual([])
      expect(expected.length).toBeGreaterThan(30)
    })
  }

  test('retention still drops what is finished', async () => {
    const directory = smallDisk(6)
    const clock = new ManualClock(0)
    for (let i = 0; i < 3; i++) {
      await using log = await openLog(directory)
      await log.append(0, 'live', testRecord('source-a', `${i}`, 1_000))
    }
    await using log = await openLog(directory, { clock })
    const ballast = fill(directory)
    await appendUntilRefused(log, 'more')
    // It may fail to note that it did, for that takes space too.
    await log.retain(0, 2, 0).catch(() => {})
    expect(segmentFiles(directory)).not.toContain('0.db')
    expect(segmentFiles(directory)).not.toContain('1.db')
    await probe(log, clock)
    expect(log.trouble()).toBeUndefined()
    ballast.free()
  })

  test('a log cannot be opened, and can be once there is space', async () => {
    const mount = smallDisk(6)
    const directory = join(mount, 'log')
    {
      await using log = await openLog(directory)
      await log.append(0, 'live', testRecord('source-a', 'x'))
    }
    const ballast = fill(mount)
    await expect(openLog(directory)).rejects.toThrow(/full|I\/O|space/)
    ballast.free()
    await using log = await openLog(directory)
    expect(await notesIn(log)).toEqual(['x'])
    expect(log.damaged()).toEqual([])
  })
})

describe.skipIf(!canForbid)('in a directory that nobody may write', () => {
  const chattr = (flag: '+i' | '-i', ...paths: string[]) => execFileSync('chattr', [flag, ...paths])

  test('appends are refused from the next new segment on, and go on by themselves', async () => {
    const directory = folders.create()
    const clock = new ManualClock(0)
    await using log = await openLog(directory, { clock, segmentBytes: 150_000 })
    await log.append(0, 'live', testRecord('source-a', 'before'))
    chattr('+i', directory)
    const accepted = await appendUntilRefused(log, 'still').finally(() => chattr('-i', directory))
    expect(log.trouble()).toMatch(/unable to open|readonly|permi/i)
    await probe(log, clock)
    expect(log.trouble()).toBeUndefined()
    await log.append(0, 'live', testRecord('source-a', 'after'))
    expect(await notesIn(log)).toEqual(['before', ...accepted, 'after'])
  })

  test('with the files of the newest segment read-only as well, nothing is accepted and nothing is lost', async () => {
    const directory = folders.create()
    {
      await using log = await openLog(directory)
      await log.append(0, 'live', testRecord('source-a', 'before'))
    }
    const before = statSync(join(directory, '0.db')).size
    chattr('+i', join(directory, '0.db'), directory)
    try {
      await expect(openLog(directory)).rejects.toThrow()
    } finally {
      chattr('-i', directory, join(directory, '0.db'))
    }
    expect(statSync(join(directory, '0.db')).size).toBe(before)
    await using log = await openLog(directory)
    expect(await notesIn(log)).toEqual(['before'])
  })
})
