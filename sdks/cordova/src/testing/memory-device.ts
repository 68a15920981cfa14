import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { EventDatabase } from '../browser/event-database.ts'
import { GUARD } from '../browser/guard.ts'
import { type Tabs, type WebEngine, webEngine } from '../browser/web-engine.ts'
import type { Signal } from '../core/bridge.ts'
import type { Device } from './device.ts'
import { FaultyDatabase } from './faulty-database.ts'
import { type Memory, memoryDatabase } from './memory-database.ts'
import { TestClock } from './test-clock.ts'

/** The TypeScript engine in this process, over a store in memory that outlives a kill, and real sockets. */
export class MemoryDevice implements Device {
  clock = new TestClock()
  readonly heard: Signal[] = []
  readonly guard = new Map<string, string>()
  isForeground = true
  /** What the platform tells of itself. */
  context: Readonly<Record<string, unknown>> = { screen: { density: 2, height: 844, width: 390 } }
  /** Other tabs; there are none. */
  tabs: Tabs | undefined
  /** Runs while a body is compressed. */
  atCompressing: () => unknown = () => undefined
  private memory: Memory = emptyMemory()
  private random = 0
  private isOnline = true
  private readonly faults: { kind: string | null } = { kind: null }
  private running: WebEngine | undefined
  private database: EventDatabase | undefined

  get bridge(): WebEngine {
    this.running ??= this.boot()
    return this.running
  }

  async reset(random: number): Promise<void> {
    this.clock = new TestClock()
    this.memory = emptyMemory()
    this.guard.clear()
    this.faults.kind = null
    this.random = random
    this.isOnline = true
    this.isForeground = true
    this.heard.length = 0
    await this.kill()
  }

  async now(): Promise<number> {
    return this.clock.now()
  }

  async advance(ms: number): Promise<void> {
    this.clock.advance(ms)
  }

  async moveClock(ms: number): Promise<void> {
    this.clock.setBy(ms)
  }

  async network(online: boolean): Promise<void> {
    this.isOnline = online
    this.running?.changed(online)
  }

  async stop(): Promise<void> {
    await this.running?.left()
  }

  async start(): Promise<void> {
    this.running?.entered()
  }

  async kill(): Promise<void> {
    this.running = undefined
    this.database = undefined
    this.clock.forgetTimers()
  }

  async deleteStore(): Promise<void> {
    this.memory = emptyMemory()
  }

  async deleteGuard(): Promise<void> {
    this.guard.clear()
  }

  async fault(storage: string | null): Promise<void> {
    this.faults.kind = storage
  }

  async rows(): Promise<readonly string[]> {
    const names: string[] = []
    await this.bridge.visit(({ body }) => {
      names.push(JSON.parse(body).event)
      return true
    })
    return names
  }

  async values(): Promise<Readonly<Record<string, string>>> {
    return this.database?.values() ?? {}
  }

  /** As localStorage holds it. */
  pageGuard(text?: string): string | null {
    if (text) this.guard.set(GUARD, text)
    return this.guard.get(GUARD) ?? null
  }

  async signals(): Promise<readonly Signal[]> {
    return this.heard.splice(0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }

  private boot(): WebEngine {
    const engine = webEngine({
      openDatabase: async () => {
        this.faults.kind === 'open' && fail('UnknownError')
        this.database = new FaultyDatabase(memoryDatabase(this.memory), this.faults)
        return this.database
      },
      guardText: (text) => this.pageGuard(text),
      fetch: (url, init) => (this.isOnline ? fetch(url, init) : Promise.reject(new TypeError('offline'))),
      clock: this.clock,
      random: () => this.random,
      nextId: randomUUID,
      gzip: async (text) => {
        await this.atCompressing()
        return new Uint8Array(gzipSync(text))
      },
      tabs: this.tabs,
      whyNoAnswer: async () => (this.isOnline ? 'RETRY_LATER' : 'OFFLINE'),
      onAnswer: () => undefined,
      context: () => this.context,
      isForeground: () => this.isForeground,
    })
    engine.listen((signal) => this.heard.push(signal))
    return engine
  }
}

function emptyMemory(): Memory {
  return { rows: [], values: {}, nextId: 1 }
}

function fail(name: string): never {
  throw new DOMException('as the scenario says', name)
}
