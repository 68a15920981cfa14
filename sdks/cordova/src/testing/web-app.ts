import type { Page } from 'playwright-core'
import { AppPage } from '../../../../tests/sdk/app-page.ts'
import { Chromium } from '../../../../tests/sdk/chromium.ts'
import { PageServer } from './page-server.ts'
import { ScenarioServer } from './scenario-server.ts'

/** Sends only when it is told to, or when the page is left. */
const PATIENT = { trackLifecycleEvents: false, sleepTimeout: 3_600, flushQueueSize: 1_000 }

const DEADLINE_MS = 10_000

const GUARD = 'service-sdk-cordova.guard'

/** The client in pages of a real Chromium, without Cordova, and a data plane that answers as its script says. */
export class WebApp implements AsyncDisposable {
  chromium: Chromium
  readonly server: ScenarioServer
  private readonly pages: PageServer

  static async open(): Promise<WebApp> {
    return new WebApp(await Chromium.open(), await ScenarioServer.open(), await PageServer.open('page-client.ts'))
  }

  private constructor(chromium: Chromium, server: ScenarioServer, pages: PageServer) {
    this.chromium = chromium
    this.server = server
    this.pages = pages
  }

  get url(): string {
    return this.pages.url
  }

  /** @param prepare what is done to the page before it is loaded. */
  page(prepare?: (page: Page) => Promise<unknown>): Promise<AppPage> {
    return AppPage.open(this.chromium, this.url, prepare)
  }

  // biome-ignore lint/suspicious/noExplicitAny: what initialize answers is looked into by the test
  ready(page: AppPage, configuration: object = {}): Promise<any> {
    return page.call('initialize', 'wk-1', { dataPlaneUrl: this.server.url, ...PATIENT, ...configuration })
  }

  /** The browser is ended and started again. @param meanwhile what happens to its files. */
  async restart(meanwhile: (profile: string) => void): Promise<void> {
    await this.chromium.quit()
    meanwhile(this.chromium.profile)
    this.chromium = await Chromium.open(this.chromium.profile)
  }

  /** What the origin of the pages may still store from now on, in bytes. */
  async limitStorage({ page }: AppPage, quotaSize: number): Promise<void> {
    const session = await this.chromium.context.newCDPSession(page)
    await session.send('Storage.overrideQuotaForOrigin', { origin: this.url, quotaSize })
  }

  /** Resolves once so many batches have come. @throws Error after 10 s. */
  async untilReceived(batches: number): Promise<void> {
    for (const deadline = Date.now() + DEADLINE_MS; this.server.received.length < batches; ) {
      if (Date.now() > deadline) throw new Error(`${batches} batches did not come`)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Names of the events that arrived, batch after batch. */
  arrived(): readonly string[] {
    return this.server.received.flatMap(({ events }) => events)
  }

  /** What the pages of the app have stored outside the database and its guard: there may be nothing. */
  async storedElsewhere(): Promise<readonly string[]> {
    const found: string[] = []
    for (const page of this.chromium.context.pages()) {
      if (!page.url().startsWith(this.url)) continue
      found.push(...(await page.evaluate<string[]>('[...Object.keys(localStorage), ...Object.keys(sessionStorage)]')))
    }
    const cookies = await this.chromium.context.cookies()
    return [...found.filter((key) => key !== GUARD), ...cookies.map(({ name }) => name)]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.chromium[Symbol.asyncDispose]()
    await this.pages[Symbol.asyncDispose]()
    await this.server[Symbol.asyncDispose]()
  }
}
