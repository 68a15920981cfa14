import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { randomFrom } from '@millrace/std'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { run } from '../cli/command-under-test.ts'
import { type MadeBackup, makeBackup, repack } from './backup-under-test.ts'
import { tarHeader } from './tar.ts'

/* contracts/control-plane.md §10 [D725]: restore verifies everything before it writes. */

const EVENTS = 30
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))

const root = mkdtempSync(join(tmpdir(), 'millrace-restore-'))
let made: MadeBackup
let bytes: Buffer
let count = 0
/** For the case at hand: the place to restore into, and a file beside it. */
let place: string
let file: string
beforeAll(async () => {
  mkdirSync(join(root, 'original'))
  made = await makeBackup(join(root, 'original'), EVENTS)
  bytes = readFileSync(made.file)
})
beforeEach(() => {
  const folder = join(root, `case-${++count}`)
  mkdirSync(folder)
  place = join(folder, 'data')
  file = join(folder, 'given.tar')
})
afterAll(() => rmSync(root, { recursive: true }))

const restore = (from = file, ...more: string[]) => run(['restore', from, ...more], { MILLRACE_DATA_DIR: place })
const names = () => readdirSync(join(place, '..')).sort()

test('a folder that is not there is made, with what the backup holds and what tells that it is a data folder', async () => {
  const { code, out, err } = await restore(made.file)
  expect([code, err]).toEqual([0, ''])
  expect(readdirSync(place).sort()).toEqual(['catalog.db', 'control.db', 'delivery.db', 'format', 'inbox.key', 'log'])
  expect(readdirSync(join(place, 'log'))).toEqual(['0.db'])
  const isPrivate = (name: string) => (statSync(join(place, name)).mode & 0o077) === 0
  expect(readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((name) => !isPrivate(name))).toEqual([])
  expect(names()).toEqual(['data'])
  expect(out.replaceAll(/20[\d-]{8} [\d:.]{12}/g, '<time>')).toBe(`restored  ${place}  from a backup of <time> UTC
The start will deliver:
  up to ${EVENTS} events to Booking hook (${made.destinationId})
Events delivered after <time> UTC are delivered again, with the same messageId.
Users, roles and access tokens are those of <time> UTC: remove again what you removed since.

A backup does not contain the secret key: copy it to ${join(place, 'secret.key')}, or set
MILLRACE_SECRET_KEY, before you start. It does not contain the command line's token either: set MILLRACE_TOKEN to yours.
`)
})

test('an empty folder is taken, and --json says the same', async () => {
  mkdirSync(place)
  const { code, out } = await restore(made.file, '--json')
  expect(code).toBe(0)
  expect(JSON.parse(out)).toEqual({
    restored: {
      dataFolder: place,
      createdAt: expect.stringMatching(/Z$/),
      version: expect.any(String),
      hasLog: true,
      redeliveries: [{ destinationId: made.destinationId, destinationName: 'Booking hook', events: EVENTS }],
    },
  })
  expect(names()).toEqual(['data'])
})

test('of a backup without the log it says that what waited is gone, and a new event gets an offset of its own', async () => {
  const folder = join(place, '..', 'original')
  mkdirSync(folder)
  const { file: without } = await makeBackup(folder, EVENTS, { log: false })
  const { code, out } = await restore(without)
  expect(code).toBe(0)
  expect(out).toContain('This backup has no log: events that waited for delivery are lost.')
  expect(out).not.toContain('will deliver')
  using database = new DatabaseSync(join(place, 'delivery.db'), { readOnly: true })
  // The events are one record, in another partition than the first.
  const noted = "SELECT offset FROM positions JOIN names ON id = reader WHERE name = 'backup'"
  expect(database.prepare(noted).get()).toEqual({ offset: 1 })
})

describe('refused, with nothing written', () => {
  const refused = async (text: RegExp, from = file) => {
    const before = names()
    const { code, out, err } = await restore(from)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(text)
    expect(err).toMatch(/^Not restored: .*\.\nNothing was changed\.\n$/)
    expect(names()).toEqual(before)
  }

  test('a folder that is not empty, or is none', async () => {
    mkdirSync(place)
    writeFileSync(join(place, 'secret.key'), 'x')
    await refused(/data is not empty: a backup is restored into an empty folder/, made.file)
    expect(readdirSync(place)).toEqual(['secret.key'])
    rmSync(place, { recursive: true })
    writeFileSync(place, '')
    await refused(/data is not a folder/, made.file)
  })

  test.each<[string, () => void, RegExp]>([
    ['is not there', () => {}, /cannot be read: ENOENT/],
    ['is a folder', () => mkdirSync(file), /cannot be read: it is a folder/],
    ['is empty', () => writeFileSync(file, ''), /is not a backup of Millrace/],
    ['is something else', () => writeFileSync(file, 'x'.repeat(10_000)), /is not a backup of Millrace/],
    [
      'is another tar',
      () => writeFileSync(file, tarHeader({ name: 'notes.txt', sizeBytes: 0, modifiedAt: 0 })),
      /is not a backup of Millrace/,
    ],
    [
      'is of a later format',
      () => {
        const header = tarHeader({ name: 'millrace-backup', sizeBytes: 2, modifiedAt: 0 })
        writeFileSync(file, Buffer.concat([header, Buffer.from('2\n'), Buffer.alloc(5_000, 'later')]))
      },
      /was made by a newer version of Millrace \(backup format 2, this version supports 1\)/,
    ],
    [
      'is of a later data folder',
      () => repack(made.file, file, () => {}, { dataFormat: 4 }),
      /was made by a newer version of Millrace \(data format 4, this version supports 3\)/,
    ],
    [
      'has a later delivery.db',
      () => repack(made.file, file, (folder) => sql(folder, 'delivery.db', 'PRAGMA user_version = 99')),
      /was made by a newer version of Millrace: restore it with that version/,
    ],
    [
      'has a later control.db',
      () =>
        repack(made.file, file, (folder) =>
          sql(folder, 'control.db', "INSERT INTO kysely_migration VALUES ('9999-later', '2026-03-04T09:15:30.000Z')"),
        ),
      /was made by a newer version of Millrace: restore it with that version/,
    ],
    ['has more at its end', () => writeFileSync(file, Buffer.concat([bytes, Buffer.alloc(512)])), /after its end/],
  ])('a file that %s', async (_, prepare, text) => {
    prepare()
    await refused(text)
  })

  test('a file that was cut anywhere', async () => {
    const random = randomFrom(SEED)
    const places = Array.from({ length: 40 }, () => 512 + Math.floor(random() * (bytes.length - 512)))
    for (const at of [512, bytes.length - 1, bytes.length - 512, bytes.length - 1024, ...places]) {
      writeFileSync(file, bytes.subarray(0, at))
      const { code, out } = await run(['doctor', file], {})
      expect([code, out], `SEED=${SEED}, cut at ${at}`).toEqual([1, expect.stringContaining(' is truncated')])
    }
    await refused(/is truncated/)
  })

  test('a file in which any bit is another one', async () => {
    const random = randomFrom(SEED)
    copyFileSync(made.file, file)
    for (let i = 0; i < 150; i++) {
      const bit = Math.floor(random() * bytes.length * 8)
      const turned = Buffer.from(bytes)
      turned[bit >> 3]! ^= 1 << (bit & 7)
      writeFileSync(file, turned)
      const { code, out } = await run(['doctor', file], {})
      expect([code, out], `SEED=${SEED}, bit ${bit}`).toEqual([1, expect.stringMatching(/^fail {2}backup/)])
    }
    await refused(/./)
  })
})

function sql(folder: string, name: string, statement: string): void {
  using database = new DatabaseSync(join(folder, name))
  database.exec(statement)
}
