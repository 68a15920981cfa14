import { existsSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { BridgeFault, Signal } from '../../core/bridge.ts'
import { execBridge } from '../../core/native-bridge.ts'
import type { Device } from '../device.ts'
import { TestClock } from '../test-clock.ts'
import { PhoneProcess, type Told } from './phone-process.ts'

/** A request that the engine asks for, and what became of it. */
export interface AskedRequest {
  readonly id: number
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Absent: GET. */
  readonly body?: Buffer
  readonly inAllMs: number
  readonly mostBytes: number
}

/** Members of `answered`, see phone.c. */
export type Answer = Readonly<Record<string, unknown>>

const LOCKED = ['guard.json', 'events.db', 'events.db-wal', 'events.db-shm']

/** A phone with the C engine: processes come and go, files and clock stay. Requests go out over real sockets. */
export class IosDevice implements Device {
  readonly folder = path.join(mkdtempSync(path.join(tmpdir(), 'millrace-ios-')), 'store')
  readonly database = path.join(this.folder, 'events.db')
  readonly guard = path.join(this.folder, 'guard.json')
  readonly bridge: Device['bridge']
  /** What the engine told of itself, in order. */
  readonly heard: Signal[] = []
  readonly logged: { level: number; text: string }[] = []
  readonly cancelled: number[] = []
  rested = 0
  /** Hears of signals as they come. */
  page: (signal: Signal) => void = () => undefined
  /** Answers requests; a test may do so itself. */
  serve: (asked: AskedRequest) => Promise<Answer> = send
  private readonly program: string
  private clock = new TestClock()
  private random = 0
  private isOnline = true
  private storageFault = ''
  private phone: PhoneProcess | undefined
  private calls = 0
  private readonly answers = new Map<number, { done: (value: unknown) => void; failed: (fault: unknown) => void }>()
  private inspected: Told | undefined
  private underWay = new Set<Promise<void>>()

  constructor(program: string) {
    this.program = program
    this.bridge = execBridge(
      (success, error, _service, action, args) => void this.act(action, args).then(success, error),
    )
  }

  async reset(random: number): Promise<void> {
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true })
    this.clock = new TestClock()
    this.random = random
    this.isOnline = true
    this.storageFault = ''
    this.heard.length = 0
    this.logged.length = 0
    this.cancelled.length = 0
    this.rested = 0
    this.serve = send
  }

  /** @param args the list, or a text that is to be taken for one @throws BridgeFault */
  async act(action: string, args: readonly unknown[] | string): Promise<unknown> {
    const call = ++this.calls
    const answered = new Promise((done, failed) => this.answers.set(call, { done, failed }))
    // Its rejection is for who awaits it below, also when the line fails first.
    answered.catch(() => undefined)
    await this.send({ do: 'act', call, action, args: typeof args === 'string' ? args : JSON.stringify(args) })
    return answered
  }

  async now(): Promise<number> {
    return this.clock.now()
  }

  async advance(ms: number): Promise<void> {
    this.clock.advance(ms)
    await this.tellWorld()
  }

  async moveClock(ms: number): Promise<void> {
    this.clock.setBy(ms)
    await this.tellWorld()
  }

  async network(online: boolean): Promise<void> {
    this.isOnline = online
    await this.tellWorld()
    if (this.phone) await this.send({ do: 'changed' })
  }

  async stop(): Promise<void> {
    const before = this.rested
    await this.send({ do: 'left' })
    while (this.rested === before) await Promise.all(this.underWay)
  }

  async start(): Promise<void> {
    await this.send({ do: 'entered' })
  }

  /** From now on neither guard nor database can be opened, as before the first unlock; for a process that has not begun. */
  lock(): void {
    for (const name of LOCKED) {
      const file = path.join(this.folder, name)
      if (existsSync(file)) renameSync(file, `${file}.locked`)
      // Leads to itself: there, and not to be opened, by root neither.
      symlinkSync(name, file)
    }
  }

  /** @param isTold false: no notification comes */
  async unlock(isTold = true): Promise<void> {
    for (const name of LOCKED) {
      const file = path.join(this.folder, name)
      rmSync(file)
      if (existsSync(`${file}.locked`)) renameSync(`${file}.locked`, file)
    }
    if (isTold) await this.send({ do: 'unlocked' })
  }

  async kill(): Promise<void> {
    await this.phone?.kill()
    this.phone = undefined
    this.answers.clear()
  }

  /** The process ends in good order. @throws what the sanitizers found */
  async end(): Promise<void> {
    await Promise.all(this.underWay)
    await this.phone?.end()
    this.phone = undefined
  }

  async deleteStore(): Promise<void> {
    for (const part of ['', '-wal', '-shm']) rmSync(this.database + part, { force: true })
  }

  async deleteGuard(): Promise<void> {
    rmSync(this.guard)
  }

  async fault(storage: string | null): Promise<void> {
    if (storage === 'corrupt') {
      await this.deleteStore()
      writeFileSync(this.database, 'This is not a database, whatever its name says. '.repeat(200))
    } else if (storage === 'newer') {
      this.onDatabase((database) => database.exec('PRAGMA user_version = 2'))
    } else if (storage === 'no-table') {
      this.onDatabase((database) => database.exec('DROP TABLE events'))
    } else {
      this.storageFault = storage ?? ''
      if (this.phone) await this.send({ do: 'fault', kind: this.storageFault })
    }
  }

  async rows(): Promise<readonly string[]> {
    const { memory } = await this.inspect()
    const stored = existsSync(this.database)
      ? this.onDatabase((database) =>
          database
            .prepare('SELECT body FROM events ORDER BY id')
            .all()
            .map((row) => row['body']),
        )
      : []
    return [...stored, ...memory].map((body) => JSON.parse(body as string).event)
  }

  async values(): Promise<Readonly<Record<string, string>>> {
    return (await this.inspect()).state
  }

  async signals(): Promise<readonly Signal[]> {
    return this.heard.splice(0)
  }

  /** What somebody else does to the file. */
  onDatabase<T>(work: (database: DatabaseSync) => T): T {
    const database = new DatabaseSync(this.database)
    try {
      return work(database)
    } finally {
      database.close()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    rmSync(path.dirname(this.folder), { recursive: true, force: true })
  }

  private async inspect(): Promise<Told> {
    await this.send({ do: 'inspect' })
    return this.inspected!
  }

  private async tellWorld(): Promise<void> {
    if (!this.phone) return
    const { clock, random, isOnline } = this
    await this.phone.send({ do: 'world', now: clock.now(), monotonic: clock.monotonic(), random, online: isOnline })
  }

  private async send(line: object): Promise<void> {
    if (!this.phone) {
      this.phone = new PhoneProcess(this.program, this.folder, (told) => this.hear(told))
      void this.tellWorld()
      void this.phone.send({ do: 'fault', kind: this.storageFault })
    }
    await this.phone.send(line)
  }

  private hear(told: Told): void {
    switch (told.t) {
      case 'answer': {
        const { done, failed } = this.answers.get(told['call'])!
        this.answers.delete(told['call'])
        if (told['ok']) done(told['value'])
        else failed(told['value'] satisfies BridgeFault)
        return
      }
      case 'request': {
        const { id, url, headers, body, inAllMs, mostBytes } = told
        const asked = { id, url, headers, inAllMs, mostBytes, ...(body && { body: Buffer.from(body, 'base64') }) }
        const { phone } = this
        const answered = this.answer(asked, phone!)
        this.underWay.add(answered)
        return void answered.finally(() => this.underWay.delete(answered))
      }
      case 'cancel':
        return void this.cancelled.push(told['id'])
      case 'signal':
        this.page(told['signal'])
        return void this.heard.push(told['signal'])
      case 'log':
        return void this.logged.push({ level: told['level'], text: told['text'] })
      case 'rested':
        this.rested++
        return
      case 'inspected':
        this.inspected = told
    }
  }

  private async answer(asked: AskedRequest, phone: PhoneProcess): Promise<void> {
    const answer = this.isOnline ? await this.serve(asked) : { status: 0, trouble: 'offline' }
    // The process that asked may be gone by now.
    if (this.phone === phone) await phone.send({ do: 'answered', request: asked.id, ...answer })
  }
}

/** As NSURLSession does it: no redirect followed, no more read than wanted. */
function send({ url, headers, body, mostBytes }: AskedRequest): Promise<Answer> {
  return new Promise((resolve) => {
    const none = (error: Error) => resolve({ status: 0, trouble: error.message })
    const method = body ? 'POST' : 'GET'
    const sent = request(
      url,
      { method, headers: { ...headers, Connection: 'close' }, agent: false },
      async (response) => {
        const chunks: Buffer[] = []
        try {
          for await (const chunk of response) chunks.push(chunk)
        } catch (error) {
          return none(error as Error)
        }
        const whole = Buffer.concat(chunks)
        const header = (name: string) => response.headers[name]
        resolve({
          status: response.statusCode,
          body: whole.subarray(0, mostBytes).toString(),
          isCut: whole.length > mostBytes,
          eventIndex: header('x-millrace-event-index'),
          retryAfter: header('retry-after'),
          location: header('location'),
          etag: header('etag'),
        })
      },
    )
    sent.on('error', none)
    sent.end(body)
  })
}
