import type { EventDatabase } from '../browser/event-database.ts'
import { guardText } from '../browser/guard.ts'
import { openIndexedDatabase } from '../browser/indexed-database.ts'
import { gzip } from '../browser/page-engine.ts'
import { type WebEngine, webEngine } from '../browser/web-engine.ts'
import type { Signal } from '../core/bridge.ts'
import { uuidOf } from '../core/text/uuid.ts'
import { FaultyDatabase } from './faulty-database.ts'
import { TestClock } from './test-clock.ts'

/*
 * Runs in a page: the engine over the page's own IndexedDB, localStorage, fetch and CompressionStream, with a clock, chance and
 * faults that the test sets. page-device.ts is its other half.
 */

export interface HarnessStart {
  readonly wall: number | undefined
  readonly random: number
  readonly isOnline: boolean
  readonly fault: string | null
}

export class PageHarness {
  readonly clock: TestClock
  readonly signals: Signal[] = []
  readonly engine: WebEngine
  readonly faults: { kind: string | null }
  isOnline: boolean
  database: EventDatabase | undefined

  constructor(start: HarnessStart) {
    this.clock = new TestClock(start.wall)
    this.isOnline = start.isOnline
    this.faults = { kind: start.fault }
    this.engine = webEngine({
      openDatabase: async (onMissing) => {
        if (this.faults.kind === 'open') throw new DOMException('as the scenario says', 'UnknownError')
        const after = (ms: number, late: () => void) => this.clock.after(ms, late)
        this.database = new FaultyDatabase(await openIndexedDatabase(after, onMissing), this.faults)
        return this.database
      },
      guardText,
      fetch: (url, init) => (this.isOnline ? fetch(url, init) : Promise.reject(new TypeError('offline'))),
      clock: this.clock,
      random: () => start.random,
      nextId: () => uuidOf(crypto.getRandomValues(new Uint8Array(16))),
      gzip,
      whyNoAnswer: async () => (this.isOnline ? 'RETRY_LATER' : 'OFFLINE'),
      onAnswer: () => undefined,
      context: () => ({}),
      isForeground: () => true,
    })
    this.engine.listen((signal) => this.signals.push(signal))
  }

  async rows(): Promise<readonly string[]> {
    const names: string[] = []
    await this.engine.visit(({ body }) => {
      names.push(JSON.parse(body).event)
      return true
    })
    return names
  }
}

Object.assign(globalThis, { PageHarness })
