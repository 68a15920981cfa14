import type { Page } from 'playwright-core'
import { Chromium } from '../../../../tests/sdk/chromium.ts'
import type { Signal } from '../core/bridge.ts'
import { execBridge } from '../core/native-bridge.ts'
import type { Device } from './device.ts'
import type { HarnessStart } from './page-harness.ts'
import { PageServer } from './page-server.ts'
import { TestClock } from './test-clock.ts'

/** The engine in a page of a real Chromium; a kill closes the page, and what its origin has stored stays. */
export class PageDevice implements Device {
  readonly bridge: Device['bridge']
  private readonly chromium: Chromium
  private readonly server: PageServer
  private readonly clock = { now: new TestClock().now() }
  private start_: Omit<HarnessStart, 'wall'> = { random: 0, isOnline: true, fault: null }
  private page: Page | undefined

  static async open(): Promise<PageDevice> {
    return new PageDevice(await Chromium.open(), await PageServer.open('page-harness.ts'))
  }

  private constructor(chromium: Chromium, server: PageServer) {
    this.chromium = chromium
    this.server = server
    this.bridge = execBridge((success, error, _service, action, args) => {
      const given = args.map((each) => JSON.stringify(each)).join(', ')
      void this.inPage(`harness.engine.${action}(${given})`).then(success, error)
    })
  }

  async reset(random: number): Promise<void> {
    await this.kill()
    this.clock.now = new TestClock().now()
    this.start_ = { random, isOnline: true, fault: null }
    await this.inPage(DELETE_STORE)
    await this.inPage('localStorage.clear()')
    await this.startEngine(this.page!)
  }

  now(): Promise<number> {
    return this.inPage('harness.clock.now()')
  }

  async advance(ms: number): Promise<void> {
    this.clock.now += ms
    if (this.page) await this.inPage(`harness.clock.advance(${ms})`)
  }

  async moveClock(ms: number): Promise<void> {
    this.clock.now += ms
    if (this.page) await this.inPage(`harness.clock.setBy(${ms})`)
  }

  async network(isOnline: boolean): Promise<void> {
    this.start_ = { ...this.start_, isOnline }
    if (this.page) await this.inPage(`(harness.isOnline = ${isOnline}, harness.engine.changed(${isOnline}))`)
  }

  async stop(): Promise<void> {
    await this.inPage('harness.engine.left()')
  }

  async start(): Promise<void> {
    await this.inPage('harness.engine.entered()')
  }

  async kill(): Promise<void> {
    await this.page?.close()
    this.page = undefined
  }

  async deleteStore(): Promise<void> {
    await this.inPage(DELETE_STORE)
    await this.kill()
  }

  /** Deletes the database under the engine that runs. */
  async loseStore(): Promise<void> {
    await this.inPage(DELETE_STORE)
  }

  /** Closes the connection of the engine that runs, as a browser may; the database stays. */
  async loseConnection(): Promise<void> {
    await this.inPage('harness.database.close()')
  }

  async deleteGuard(): Promise<void> {
    await this.inPage('localStorage.clear()')
    await this.kill()
  }

  async fault(fault: string | null): Promise<void> {
    this.start_ = { ...this.start_, fault }
    if (this.page) await this.inPage(`void (harness.faults.kind = ${JSON.stringify(fault)})`)
  }

  rows(): Promise<readonly string[]> {
    return this.inPage('harness.rows()')
  }

  values(): Promise<Readonly<Record<string, string>>> {
    return this.inPage('harness.database.values()')
  }

  signals(): Promise<readonly Signal[]> {
    return this.inPage('harness.signals.splice(0)')
  }

  /** Keys of localStorage. */
  storedKeys(): Promise<readonly string[]> {
    return this.inPage('Object.keys(localStorage)')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.chromium[Symbol.asyncDispose]()
    await this.server[Symbol.asyncDispose]()
  }

  // biome-ignore lint/suspicious/noExplicitAny: what an expression is in the page is known where it is written
  private async inPage(expression: string): Promise<any> {
    this.page ??= await this.boot()
    return this.page.evaluate(expression)
  }

  private async boot(): Promise<Page> {
    const page = await this.chromium.page(this.server.url)
    await this.startEngine(page)
    return page
  }

  private async startEngine(page: Page): Promise<void> {
    const start: HarnessStart = { ...this.start_, wall: this.clock.now }
    await page.evaluate(`void (globalThis.harness = new PageHarness(${JSON.stringify(start)}))`)
  }
}

const DELETE_STORE = `new Promise((resolve, reject) => {
  const request = indexedDB.deleteDatabase('service-sdk-cordova')
  request.onsuccess = () => resolve(null)
  request.onerror = request.onblocked = () => reject(new Error('the database cannot be deleted'))
})`
