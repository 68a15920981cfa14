import { createHash } from 'node:crypto'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SqliteEventLog } from '@millrace/log'
import { ENRICHMENT_RULES, type EventRecord, messageHash } from '@millrace/protocol'
import { systemClock } from '@millrace/std'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AnsweringServer, run } from '../command-under-test.ts'

let root: string
let data: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'millrace-doctor-test-'))
  data = join(root, 'data')
})
afterEach(() => rmSync(root, { recursive: true }))

/** Verdict and text by what was looked at, several joined. */
async function examine(env: Record<string, string> = {}, ...words: string[]) {
  const result = await run(['doctor', '--json', ...words], { MILLRACE_DATA_DIR: data, MILLRACE_PORT: '0', ...env })
  const found: Record<string, string> = {}
  for (const { verdict, what, text } of JSON.parse(result.out).findings) {
    found[what] = [...(found[what] === undefined ? [] : [found[what]]), `${verdict} ${text}`].join(' | ')
  }
  return { ...result, found }
}

function record(n: number): EventRecord {
  return {
    header: {
      sourceId: 'source-a',
      route: 'track',
      acceptedAt: Date.UTC(2026, 2, 4),
      clientAddress: '203.0.113.9',
      seed: new Uint8Array(16),
      rules: ENRICHMENT_RULES,
      policySet: 0,
      messageHashes: messageHash(`m-${n}`),
    },
    body: Buffer.from(JSON.stringify({ userId: 'u', messageId: `m-${n}`, filling: 'x'.repeat(2_000) })),
  }
}

/** Opens a log in a folder and appends to it, ten records a commit. */
async function openLog(folder: string, records: number, segmentBytes: number): Promise<SqliteEventLog> {
  mkdirSync(join(folder, 'log'), { recursive: true })
  writeFileSync(join(folder, 'format'), '1\n')
  for (const name of ['control.db', 'delivery.db']) new DatabaseSync(join(folder, name)).close()
  writeFileSync(join(folder, 'secret.key'), 'key', { mode: 0o600 })
  const log = await SqliteEventLog.open({ directory: join(folder, 'log'), clock: systemClock, segmentBytes })
  for (let n = 0; n < records; n += 10) {
    const commit = Array.from({ length: 10 }, (_, i) => log.append(0, i % 5 === 0 ? 'backfill' : 'live', record(n + i)))
    await Promise.all(commit)
  }
  return log
}

const RECORDS = 60

/** A closed log of several segments; each test has a copy of its own. */
const original = mkdtempSync(join(tmpdir(), 'millrace-doctor-log-'))
beforeAll(async () => {
  await (await openLog(original, RECORDS, 50_000))[Symbol.asyncDispose]()
})
afterAll(() => rmSync(original, { recursive: true }))

function copyOfLog(): [first: string, second: string, third: string, ...more: string[]] {
  cpSync(original, data, { recursive: true })
  const files = readdirSync(join(data, 'log'))
    .filter((name) => name.endsWith('.db'))
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map((name) => join(data, 'log', name))
  expect(files.length).toBeGreaterThan(2)
  return files as [string, string, string]
}

/**
 * Name, time and content of everything in a folder; of an index of a WAL the name only: reading it would end the locks
 * that SQLite holds in this process.
 */
function fingerprint(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => (file.endsWith('-shm') ? file : `${file} ${statSync(file).mtimeMs} ${sha256(file)}`))
}

function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

test('on a fresh machine all is well', async () => {
  const { code, out, err } = await run(['doctor'], { MILLRACE_DATA_DIR: data, MILLRACE_PORT: '0' })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toContain(`ok    data folder  ${data} does not exist yet; the first start creates it\n`)
  expect(out).toMatch(/\nok {4}disk {9}[\d.,]+ [GTM]B free, floor 512 MB\n/)
  expect(out).toContain(
    'ok    egress       public addresses allowed, private ones refused; loopback allowed for configured',
  )
  expect(out).toMatch(/\n\nNo problems found\.\n$/)
  expect(readdirSync(root)).toEqual([])
})

test('while a log is being written, every record is checked and nothing is changed', async () => {
  await using log = await openLog(data, 20, 100_000_000)
  const before = fingerprint(data)
  const { code, found } = await examine()
  expect(fingerprint(data)).toEqual(before)
  expect(found['records']).toBe('ok 20 read, every checksum fits')
  expect(found['log']).toMatch(/^ok 1 segment, [\d.]+ KB; the oldest starts at offset 0, the newest at 0$/)
  expect(found['format']).toBe('ok 1')
  expect(code).toBe(0)
  await log.append(0, 'live', record(20))
  expect((await examine()).found['records']).toBe('ok 21 read, every checksum fits')
  expect((await examine({}, '--quick')).found['records']).toBe('ok not read (--quick)')
})

test('a log of closed segments is read without leaving a trace', async () => {
  const files = copyOfLog()
  const before = fingerprint(data)
  const { code, found } = await examine()
  expect(fingerprint(data)).toEqual(before)
  expect(found['records']).toBe(`ok ${RECORDS} read, every checksum fits`)
  expect(found['log']).toMatch(
    new RegExp(`^ok ${files.length} segments, .*; the oldest starts at offset 0, the newest at \\d+$`),
  )
  expect(code).toBe(0)
})

describe('damage', () => {
  test('a record that fails its checksum is named by its offset', async () => {
    const [, second] = copyOfLog()
    const database = new DatabaseSync(second)
    const { offset } = database.prepare('SELECT min(offset) AS offset FROM live').get() as { offset: number }
    database.prepare('UPDATE live SET crc = crc + 1 WHERE offset = ?').run(offset)
    database.close()
    const { code, found } = await examine()
    expect(code).toBe(1)
    expect(found['records']).toBe(
      `fail ${second}: offsets ${offset} fail their checksums; the segment is set aside when they are read`,
    )
  })

  test.each<[string, (path: string) => void]>([
    ['empty', (path) => truncateSync(path, 0)],
    ['cut in its header', (path) => truncateSync(path, 50)],
    ['cut to its first page', (path) => truncateSync(path, 16_384)],
    ['cut in the middle', (path) => truncateSync(path, Math.floor(statSync(path).size / 2))],
    ['no database', (path) => writeFileSync(path, 'x'.repeat(40_000))],
  ])('a segment that is %s is named, and the others are read', async (_, damage) => {
    const [, second] = copyOfLog()
    damage(second)
    const { code, found } = await examine()
    expect(code).toBe(1)
    expect(found['records']).toMatch(/^fail [^|]+$/)
    expect(found['records']).toContain(second)
  })

  test('reports that damage in the WAL of a crashed server cut off records', async () => {
    await using _ = await openLog(data, RECORDS, 2 ** 30)
    const crashed = join(root, 'crashed')
    cpSync(data, crashed, { recursive: true, filter: (path) => !path.endsWith('-shm') })
    const wal = join(crashed, 'log', '0.db-wal')
    const damaged = readFileSync(wal)
    damaged[Math.floor(damaged.length / 2)]! ^= 1
    writeFileSync(wal, damaged)
    const { code, found } = await examine({ MILLRACE_DATA_DIR: crashed })
    const rest = 'the next start serves the rest, and keeps these files as *.damaged'
    expect([code, found['records']]).toEqual([1, `fail ${wal}: damage cut off accepted records; ${rest}`])
  })

  test('a segment that was set aside is shown with its offsets', async () => {
    const [, second, third] = copyOfLog()
    renameSync(second, `${second}.damaged`)
    const [from, to] = [second, third].map((path) => Number.parseInt(path.split('/').at(-1)!, 10)) as [number, number]
    const { code, found } = await examine()
    expect(code).toBe(0)
    expect(found['damaged']).toContain(`was set aside: offsets ${from} to ${to - 1} are lost`)
    expect(found['records']).toBe(`ok ${RECORDS - (to - from)} read, every checksum fits`)
  })
})

describe('data folder', () => {
  test('that is a file, of a newer format, or of something else', async () => {
    writeFileSync(data, '')
    expect(await examine()).toMatchObject({ code: 1, found: { 'data folder': `fail ${data} is not a folder` } })
    rmSync(data)
    mkdirSync(data)
    expect((await examine()).found['format']).toBe('ok none yet: the folder is empty')
    writeFileSync(join(data, 'notes.txt'), '')
    expect((await examine()).found['format']).toMatch(/^warn .* is missing, yet the folder is not empty/)
    writeFileSync(join(data, 'format'), '99\n')
    expect(await examine()).toMatchObject({
      code: 1,
      found: { format: 'fail 99 is from a newer version of Millrace; this one supports 3' },
    })
  })

  test.skipIf(process.platform === 'win32')('with a secret that others may read', async () => {
    mkdirSync(data)
    writeFileSync(join(data, 'cli-token'), 't', { mode: 0o644 })
    writeFileSync(join(data, 'secret.key'), 't', { mode: 0o600 })
    const file = join(data, 'cli-token')
    expect((await examine()).found['secrets']).toBe(`warn other users can read ${file}: chmod 600 ${file}`)
  })

  test('written in what this clock takes for the future', async () => {
    mkdirSync(data)
    writeFileSync(join(data, 'format'), '1\n')
    const later = Date.now() / 1000 + 7_200
    utimesSync(join(data, 'format'), later, later)
    expect((await examine()).found['clock']).toMatch(/^warn .*: the clock is or was wrong$/)
  })

  test('on a volume with less space than the floor', async () => {
    const { code, found } = await examine({ MILLRACE_MIN_FREE_DISK_MB: '1048576' })
    expect(found['disk']).toMatch(/^fail .* free, floor 1\.0 TB: events are refused until space is freed$/)
    expect(code).toBe(1)
    expect((await examine({ MILLRACE_MIN_FREE_DISK_MB: '0' })).found['disk']).toMatch(/^ok .* free, floor off$/)
  })
})

describe('what a start would refuse', () => {
  test.each(['control.db', 'delivery.db'])('%s is gone', async (name) => {
    copyOfLog()
    rmSync(join(data, name))
    const { code, found } = await examine()
    expect(found['databases']).toMatch(
      `fail ${join(data, name)} is missing: restore the file or a backup; without it the server does not start`,
    )
    expect(code).toBe(1)
  })

  test('the secret key is gone, unless MILLRACE_SECRET_KEY has it', async () => {
    copyOfLog()
    rmSync(join(data, 'secret.key'))
    const { code, found } = await examine()
    expect([code, found['secrets']]).toEqual([1, expect.stringContaining('secret.key is missing')])
    expect((await examine({ MILLRACE_SECRET_KEY: '0f'.repeat(32) })).code).toBe(0)
  })
})

describe('port', () => {
  const health = (status: number, checks: Record<string, string>) => ({
    'GET /health': [status, { appType: 'EMBEDDED', checks }] as const,
  })

  test.each([
    ['ours and well', health(200, { log: 'ok', backlog: 'ok' }), 0, /^ok .* the server runs and is healthy$/],
    [
      'ours with a full backlog',
      health(200, { log: 'ok', backlog: '82 % used' }),
      0,
      /^warn .* but is unhealthy: backlog: 82 % used$/,
    ],
    [
      'ours and unwell',
      health(503, { log: 'ok', disk: 'free space below 512 MB' }),
      1,
      /^fail .* but is unhealthy: disk: free space/,
    ],
    ['of another program', {}, 1, /^fail .* is in use by another program: stop it, or set MILLRACE_PORT$/],
  ])('%s', async (_, answers, code, text) => {
    await using server = await AnsweringServer.start(answers)
    const result = await examine({ MILLRACE_PORT: String(server.port) })
    expect(result.found['port']).toMatch(text)
    expect(result.code).toBe(code)
  })

  test('in use by a server that hangs: it is not taken for another program', async () => {
    const silent = createServer()
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    const { code, found } = await examine({ MILLRACE_PORT: String(port) })
    silent.close()
    expect([code, found['port']]).toEqual([
      1,
      expect.stringMatching(/^fail .* if this is Millrace, see its log; it hangs/),
    ])
  }, 20_000)

  test('of another program: it is not given the token of this machine', async () => {
    mkdirSync(data)
    writeFileSync(join(data, 'cli-token'), 'canary', { mode: 0o600 })
    await using server = await AnsweringServer.start({})
    await examine({ MILLRACE_PORT: String(server.port) })
    expect(server.requests.map(({ path, authorization }) => [path, authorization])).toEqual([['/health', undefined]])
  })

  test('free, or an address that is not of this machine', async () => {
    const server = await AnsweringServer.start({})
    const { port } = server
    await server[Symbol.asyncDispose]()
    expect((await examine({ MILLRACE_PORT: String(port) })).found['port']).toBe(
      `ok 127.0.0.1:${port} is free: no server listens there`,
    )
    const { found } = await examine({ MILLRACE_PORT: String(port), MILLRACE_HOST: '192.0.2.1' })
    expect(found['port']).toMatch(/^fail 192\.0\.2\.1:\d+ cannot be listened on \(EADDRNOTAVAIL\): see MILLRACE_HOST$/)
  })
})

test('wrong and unknown settings are named', async () => {
  expect((await examine({ MILLRACE_PROT: '1' })).found['settings']).toContain('warn MILLRACE_PROT is not a setting')
  const { code, found } = await examine({ MILLRACE_MAX_NESTING: 'x', MILLRACE_QUICKSTART: 'y' })
  expect(code).toBe(1)
  expect(found['settings']).toMatch(/^fail MILLRACE_QUICKSTART is "y"; .* \| MILLRACE_MAX_NESTING is "x"; /)
})

test('the egress rules in force are told', async () => {
  const env = {
    MILLRACE_EGRESS_ALLOW: '10.0.0.0/8',
    MILLRACE_EGRESS_DENY: 'evil.example',
    MILLRACE_EGRESS_PROXY: 'http://u:canary@p:3128',
  }
  const { out, found } = await examine(env)
  expect(found['egress']).toMatch(
    /^ok .*; but allowed: 10\.0\.0\.0\/8; denied: evil\.example \| warn all calls go through http:\/\/\*{8}@p:3128/,
  )
  expect(found['egress']).not.toContain('loopback')
  expect(out).not.toContain('canary')
  expect((await examine({ MILLRACE_HOST: '0.0.0.0' })).found['egress']).not.toContain('loopback')
})
