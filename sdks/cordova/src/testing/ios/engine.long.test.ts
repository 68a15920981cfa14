import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { standardSettings } from '../scenario.ts'
import { type AskedRequest, IosDevice } from './ios-device.ts'
import { compilePhone, findCompiler, mayBeSkipped } from './toolchain.ts'

/* What the C engine of iOS promises beyond the scenarios, under sanitizers. contracts/cordova-sdk.md §14, §16, §19, §21. */

const compiler = await findCompiler()
if (typeof compiler === 'string') process.stderr.write(`SKIPPED iOS engine: ${compiler}\n`)

const SETTINGS = {
  ...standardSettings('https://events.example.com'),
  writeKey: 'wk-secret-1',
  controlPlaneUrl: 'https://config.example.com',
}
const TAIL = '"type":"track","event":"Application Backgrounded"}'

describe.skipIf(typeof compiler === 'string' && mayBeSkipped)('the iOS engine', () => {
  let program: string
  let device: IosDevice
  let asked: AskedRequest[]

  beforeAll(async () => {
    if (typeof compiler === 'string') throw new Error(compiler)
    program = await compilePhone(compiler)
  }, 180_000)
  beforeEach(() => {
    device = new IosDevice(program)
    asked = []
    device.serve = async (request) => {
      asked.push(request)
      return { status: 200 }
    }
  })
  afterEach(async () => {
    try {
      await device.end()
    } finally {
      await device[Symbol.asyncDispose]()
    }
  })

  const open = (settings: object = {}) => device.bridge.open({ ...SETTINGS, ...settings })
  const push = (...events: string[]) =>
    device.bridge.push({ rows: events.map((event) => ({ body: bodyOf(event) })), state: {} })
  const sent = () => asked.flatMap(({ body }) => eventsOf(body!))
  /** Of a request that is not answered before the test says so. */
  const heldRequest = () => {
    const held = Promise.withResolvers<void>()
    const arrived = new Promise<AskedRequest>((resolve) => {
      device.serve = async (request) => {
        resolve(request)
        await held.promise
        return { status: 200 }
      }
    })
    return { arrived, release: held.resolve }
  }

  test('a request carries the headers of the contract, and is given 30 s and 4 KiB of answer', async () => {
    await open()
    await device.bridge.state({ anonymousId: 'a-1' })
    await push('A')
    await device.bridge.drain({ force: false })
    expect(asked[0]).toMatchObject({
      url: 'https://events.example.com/v1/batch',
      headers: {
        Authorization: `Basic ${btoa('wk-secret-1:')}`,
        AnonymousId: btoa('a-1'),
        'Content-Type': 'application/json',
        'User-Agent': 'service-sdk-cordova/1.4.0 (iOS 18.1)',
      },
      inAllMs: 30_000,
      mostBytes: 4_096,
    })
  })

  test('a source configuration is asked for as ios, with ETag, 10 s and 1 MiB; a longer one counts as no answer', async () => {
    await open()
    await device.bridge.config({ etag: '"v1"' })
    expect(asked[0]).toMatchObject({
      url: 'https://config.example.com/sourceConfig?p=ios&v=1.4.0&bv=8.1.1',
      headers: { 'If-None-Match': '"v1"' },
      inAllMs: 10_000,
      mostBytes: 1024 * 1024,
    })
    expect(asked[0]!.body).toBeUndefined()
    device.serve = async () => ({ status: 200, body: '{', isCut: true })
    expect(await device.bridge.config({})).toEqual({ status: 0 })
  })

  test('a compressed body is the same text', async () => {
    await open({ gzip: true })
    await push(...Array.from({ length: 20 }, (_, at) => `é${at}`))
    await device.bridge.drain({ force: false })
    expect(asked[0]!.headers['Content-Encoding']).toBe('gzip')
    const events = JSON.parse(gunzipSync(asked[0]!.body!).toString()).batch
    expect(events.map(({ event }: { event: string }) => event)).toEqual(Array.from({ length: 20 }, (_, at) => `é${at}`))
  })

  test('calls are answered while a request is under way, and a second drain waits for the first', async () => {
    await open()
    await push('A')
    const { arrived, release } = heldRequest()
    const first = device.bridge.drain({ force: false })
    await arrived
    expect(await push('B')).toMatchObject({ queued: 2 })
    const second = device.bridge.drain({ force: true })
    release()
    expect([await first, await second]).toMatchObject([{ sent: 2 }, { sent: 0, outcome: 'EMPTY' }])
  })

  test('an opt-out ends the request that is under way and every drain that waits', async () => {
    await open()
    await push('A')
    const { arrived, release } = heldRequest()
    const drains = [device.bridge.drain({ force: false }), device.bridge.drain({ force: true })]
    const { id } = await arrived
    await device.bridge.state({ tracking: 'disabled' })
    expect(await Promise.all(drains)).toMatchObject([{ outcome: 'OPTED_OUT' }, { outcome: 'OPTED_OUT', remaining: 1 }])
    expect(device.cancelled).toEqual([id])
    release()
    expect(await device.rows()).toEqual(['A'])
    expect(await device.bridge.config({})).toEqual({ status: 0 })
  })

  test('of 102 drains one runs, 100 wait, and one more is told BUSY', async () => {
    await open()
    await push('A')
    const { arrived, release } = heldRequest()
    const drains = Array.from({ length: 102 }, () => device.bridge.drain({ force: false }))
    await arrived
    release()
    const outcomes = (await Promise.all(drains)).map(({ outcome }) => outcome)
    expect(outcomes.filter((outcome) => outcome === 'BUSY')).toHaveLength(1)
    expect(outcomes.at(-1)).toBe('BUSY')
  })

  test('leaving stores and sends without any JavaScript, and rests once for each time', async () => {
    await open()
    await push('A')
    await device.bridge.tail(TAIL)
    await device.stop()
    expect(sent()).toEqual(['A', 'Application Backgrounded'])
    expect(device.rested).toBe(1)
    await device.start()
    await device.stop()
    expect(device.rested).toBe(2)
    expect(device.heard.map(({ t }) => t)).toEqual(['stop', 'drained', 'start', 'stop', 'drained'])
  })

  test('leaving before open rests at once, and stores nothing', async () => {
    await device.bridge.tail(TAIL)
    await device.stop()
    expect(device.heard).toEqual([{ t: 'stop', stored: false }])
  })

  test('the write key is in no line of the log and in no detail, at any level', async () => {
    await open()
    for (const answer of [
      { status: 400 },
      { status: 503 },
      { status: 0, trouble: 'NSURLErrorDomain -1004' },
      { status: 302, location: 'https://user:pw@portal.example/login?key=wk-secret-1' },
    ]) {
      device.serve = async () => answer
      await push('A', 'B')
      await device.bridge.drain({ force: true })
    }
    const { report } = await device.bridge.drain({ force: true })
    expect(report.lastError).toMatchObject({
      code: 'WRONG_ADDRESS',
      detail: 'the server answered 302 towards portal.example',
    })
    const lines = device.logged.map(({ text }) => text).join('\n')
    expect(lines).toContain('batch of ')
    expect(lines).not.toContain('wk-secret-1')
    expect(lines).not.toContain(btoa('wk-secret-1:'))
    expect(lines).not.toContain('user:pw')
  })

  test('200 events that were stored before SIGKILL arrive after it, in order, once', async () => {
    await open()
    const names = Array.from({ length: 200 }, (_, at) => `e${at}`)
    for (const name of names) await push(name)
    await device.kill()
    expect(await open({ flushQueueSize: 50 })).toMatchObject({ queued: 200 })
    expect(await device.bridge.drain({ force: false })).toMatchObject({ sent: 200, outcome: 'EMPTY' })
    expect(sent()).toEqual(names)
  })

  test('a purge leaves no byte of an event in the files, nor what was set aside', async () => {
    await open()
    await push('Purchased-Secret-Thing')
    writeFileSync(path.join(device.folder, 'events.corrupt'), 'Purchased-Secret-Thing')
    await device.bridge.purge('events')
    expect(existsSync(path.join(device.folder, 'events.corrupt'))).toBe(false)
    for (const part of ['', '-wal']) {
      expect(existsSync(device.database + part) ? readFileSync(device.database + part, 'latin1') : '').not.toContain(
        'Secret',
      )
    }
  })

  test('a purge of a database that cannot be written deletes the file, and keeps the state', async () => {
    await open()
    await device.bridge.state({ userId: 'u-1', tracking: 'enabled' })
    await push('Purchased-Secret-Thing')
    await device.fault('io')
    await device.bridge.purge('events')
    await device.fault(null)
    expect(readFileSync(device.database, 'latin1')).not.toContain('Secret')
    expect(await device.values()).toMatchObject({ userId: 'u-1', tracking: 'enabled', purged: '1' })
    expect(await push('B')).toMatchObject({ queued: 1 })
  })

  test('a database that is a folder, and a folder that cannot be made, mean memory', async () => {
    mkdirSync(device.database, { recursive: true })
    expect(await open()).toMatchObject({ storage: 'memory', report: { lastError: { code: 'STORAGE_OPEN' } } })
    expect(await push('A')).toMatchObject({ inMemory: true })
    expect(await device.bridge.drain({ force: false })).toMatchObject({ sent: 1 })
    await device.reset(0)
    writeFileSync(device.folder, 'in the way')
    expect(await open()).toMatchObject({ storage: 'memory' })
    await device.bridge.state({ tracking: 'disabled' })
    expect(await device.bridge.drain({ force: true })).toMatchObject({ outcome: 'OPTED_OUT' })
  })

  test('somebody who holds the database costs one transaction its place on disk', async () => {
    await open()
    using other = new DatabaseSync(device.database)
    other.exec('BEGIN IMMEDIATE')
    expect(await push('A')).toMatchObject({ inMemory: true, report: { lastError: { code: 'STORAGE_BUSY' } } })
    other.exec('ROLLBACK')
    expect(await push('B')).toMatchObject({ inMemory: false })
    expect(await device.rows()).toEqual(['B', 'A'])
  })

  test('pages that are damaged in the middle are noticed and the file is set aside', async () => {
    await open()
    await device.bridge.state({ anonymousId: 'a-1' })
    for (let at = 0; at < 40; at++) await push(`${'x'.repeat(1_000)}${at}`)
    // Ends in good order, so that all of it is in the file itself.
    await device.end()
    const whole = readFileSync(device.database)
    writeFileSync(device.database, whole.fill(0x5a, 4_096))
    expect(await open()).toMatchObject({
      storage: 'sqlite',
      state: { anonymousId: 'a-1' },
      report: { lastError: { code: 'STORAGE_CORRUPT' } },
    })
    expect(existsSync(path.join(device.folder, 'events.corrupt'))).toBe(true)
    expect(await push('A')).toMatchObject({ inMemory: false, queued: 1 })
  })

  test('a table that goes missing while running is made again', async () => {
    await open()
    await push('A')
    device.onDatabase((other) => other.exec('DROP TABLE state'))
    expect(await push('B')).toMatchObject({ inMemory: false, report: { lastError: { code: 'STORAGE_CORRUPT' } } })
    expect(await device.rows()).toEqual(['A', 'B'])
  })

  test('rows that were delivered and cannot be deleted are not sent again', async () => {
    await open()
    await push('A')
    device.serve = async (request) => {
      if (asked.push(request) === 1) await device.fault('io')
      return { status: 200 }
    }
    expect(await device.bridge.drain({ force: false })).toMatchObject({ sent: 1, remaining: 0 })
    await device.fault(null)
    expect(await push('B')).toMatchObject({ queued: 1 })
    expect(await device.bridge.drain({ force: true })).toMatchObject({ sent: 1 })
    expect(sent()).toEqual(['A', 'B'])
    expect(await device.rows()).toEqual([])
  })

  test('on a full disk the log tells how many events were deleted', async () => {
    await open()
    await push(...Array.from({ length: 20 }, (_, at) => `e${at}`))
    await device.fault('full-twice')
    await push('A')
    expect(device.logged.map(({ text }) => text)).toContain('STORAGE_FULL the 2 oldest events were deleted')
  })

  test('rows of a refused former write key are read once, and again when it is no longer set aside', async () => {
    await open({ writeKey: 'wk-former' })
    await push(...Array.from({ length: 9_000 }, (_, at) => `former-${at}`))
    await device.kill()
    const serves = (status: number) => {
      device.serve = async (request) => {
        asked.push(request)
        return { status: request.headers.Authorization === `Basic ${btoa('wk-former:')}` ? status : 200 }
      }
    }
    serves(401)
    await open()
    await push('A')
    expect(await device.bridge.drain({ force: false })).toMatchObject({ sent: 1, remaining: 9_000 })
    // Who reads them now would take them for rows of the key of now.
    device.onDatabase((other) => other.exec("UPDATE events SET write_key = 'wk-secret-1'"))
    await push('B')
    expect(await device.bridge.drain({ force: false })).toMatchObject({ sent: 1, remaining: 9_000 })
    device.onDatabase((other) => other.exec("UPDATE events SET write_key = 'wk-former'"))
    serves(200)
    await device.bridge.state({ source: JSON.stringify({ enabled: true }) })
    expect(await device.bridge.drain({ force: false })).toMatchObject({ sent: 9_000, remaining: 0 })
  }, 60_000)

  test('one line tells of a kind of failure, however often it comes', async () => {
    await open()
    await device.fault('busy')
    for (const name of ['A', 'B', 'C']) await push(name)
    expect(device.logged.filter(({ text }) => text.includes('STORAGE_BUSY'))).toHaveLength(1)
  })

  test('a guard that cannot be written is told, and an opt-out holds all the same', async () => {
    mkdirSync(path.join(device.folder, 'guard.json.new'), { recursive: true })
    await open()
    await device.bridge.state({ tracking: 'disabled' })
    expect((await device.bridge.drain({ force: true })).report.lastError).toMatchObject({ code: 'STORAGE_IO' })
    await device.kill()
    expect(await open()).toMatchObject({ tracking: 'disabled' })
  })

  test('launch.opened says to a page that is loaded again whether the app is open', async () => {
    expect(await open()).toMatchObject({ launch: { foreground: true, opened: false } })
    await device.bridge.tail(TAIL)
    expect(await open()).toMatchObject({ launch: { opened: true } })
    await device.stop()
    expect(await open()).toMatchObject({ launch: { opened: false } })
    await device.bridge.tail(TAIL)
    await device.kill()
    expect(await open()).toMatchObject({ launch: { opened: false } })
  })

  test('a guard that cannot be read may hold an opt-out: nothing is sent, and nothing is written over it', async () => {
    await open()
    await device.bridge.state({ tracking: 'disabled', anonymousId: 'a-1', marker: '{"version":"1"}' })
    const guard = readFileSync(device.guard, 'utf8')
    await device.kill()
    device.lock()
    const opened = await open()
    expect(opened).toMatchObject({
      tracking: 'awaiting-consent',
      storage: 'memory',
      // As the app that runs: neither an installation nor an update may be told of it.
      launch: { marker: { version: '3.2.0', build: '320' } },
      report: { lastError: { code: 'STORAGE_OPEN' } },
    })
    expect(opened).not.toHaveProperty('state')
    await push('A')
    expect(await device.bridge.drain({ force: true })).toMatchObject({ outcome: 'AWAITING_CONSENT', remaining: 1 })
    expect(await device.bridge.config({})).toEqual({ status: 0 })
    await device.unlock()
    expect(device.heard).toEqual([{ t: 'changed', state: { tracking: 'disabled' } }])
    expect(await device.bridge.drain({ force: true })).toMatchObject({ outcome: 'OPTED_OUT' })
    expect(await open()).toMatchObject({ tracking: 'disabled', launch: { marker: { version: '1' } } })
    expect(readFileSync(device.guard, 'utf8')).toBe(guard)
    expect(asked).toEqual([])
  })

  test('a choice that is made while the guard cannot be read holds at once, and joins the guard once it can be read', async () => {
    await open()
    await device.bridge.state({ anonymousId: 'a-1' })
    await device.kill()
    device.lock()
    await device.bridge.state({ tracking: 'disabled' })
    expect(await open()).toMatchObject({ tracking: 'disabled' })
    await device.bridge.state({ tracking: 'enabled' })
    expect(await open()).toMatchObject({ tracking: 'enabled' })
    await device.bridge.state({ tracking: 'disabled', marker: null })
    await device.unlock(false)
    expect(await device.bridge.drain({ force: true })).toMatchObject({ outcome: 'OPTED_OUT' })
    expect(JSON.parse(readFileSync(device.guard, 'utf8'))).toEqual({ anonymousId: 'a-1', tracking: 'disabled' })
  })

  test('without a notification the guard is read again with every call and signal, and so is the database', async () => {
    await open()
    await device.bridge.state({ userId: 'u-1' })
    await push('A')
    for (const next of [() => device.start(), () => device.network(true), () => device.bridge.tail(null)]) {
      await device.kill()
      device.lock()
      expect(await open()).toMatchObject({ tracking: 'awaiting-consent', storage: 'memory' })
      device.heard.length = 0
      await device.unlock(false)
      await next()
      expect(device.heard).toContainEqual({ t: 'changed', state: { tracking: 'enabled' } })
      expect(await open()).toMatchObject({ storage: 'sqlite', state: { userId: 'u-1' }, queued: 1 })
    }
  })

  test('values keep every character, a zero byte and half a surrogate pair included', async () => {
    await open()
    const value = 'a\u0000b "\\\n\u001f ü 漢 😀'
    await device.act('state', [{ traits: value, userId: 'x\ud800y' }])
    await device.kill()
    expect(await open()).toMatchObject({ state: { traits: value, userId: 'x\ufffdy' } })
  })
})

function bodyOf(event: string): string {
  return JSON.stringify({ messageId: event, originalTimestamp: '2026-11-20T09:30:00.000Z', type: 'track', event })
}

function eventsOf(body: Buffer): string[] {
  return JSON.parse(body.toString()).batch.map(({ event }: { event: string }) => event)
}
