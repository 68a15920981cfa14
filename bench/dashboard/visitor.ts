import { CHROMIUM_FLAGS } from '@millrace/dev-env/chromium'
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'
import type { Program } from '../programs.ts'
import { AFTER_PAINT } from './in-page.ts'
import { type Session, signIn } from './session.ts'

const WINDOW = { width: 1440, height: 900 }
const TIMEOUT_MS = 60_000

/** Somebody who is signed in to the dashboard of a product, with a Chromium of their own. */
export class Visitor implements AsyncDisposable {
  readonly #browser: Browser
  readonly #origin: string
  readonly #session: Session

  static async open(executablePath: string, product: Program): Promise<Visitor> {
    const session = await signIn(product)
    return new Visitor(await chromium.launch({ executablePath, args: [...CHROMIUM_FLAGS] }), product.url, session)
  }

  private constructor(browser: Browser, origin: string, session: Session) {
    this.#browser = browser
    this.#origin = origin
    this.#session = session
  }

  /**
   * Opens a page in a profile of its own, so that nothing of it is cached.
   *
   * @param path below /ui: `/events`.
   * @param slowness how many times slower than it is the CPU is made to look.
   */
  async visit(path: string, { slowness = 1 } = {}): Promise<Visit> {
    const { cookie, half } = this.#session
    const context = await this.#browser.newContext({ viewport: WINDOW, baseURL: this.#origin })
    context.setDefaultTimeout(TIMEOUT_MS)
    await context.addCookies([{ ...cookie, url: this.#origin, httpOnly: true, sameSite: 'Strict' }])
    await context.addInitScript(`localStorage.setItem('millrace.session', '${half}');${AFTER_PAINT}`)
    const page = await context.newPage()
    const devTools = await context.newCDPSession(page)
    if (slowness > 1) await devTools.send('Emulation.setCPUThrottlingRate', { rate: slowness })
    const visit = new Visit(page, devTools)
    await page.goto(`/ui${path}`)
    return visit
  }

  /** CPU time of the browser so far, all of its processes. */
  async cpuSeconds(): Promise<number> {
    const devTools = await this.#browser.newBrowserCDPSession()
    const { processInfo } = await devTools.send('SystemInfo.getProcessInfo')
    await devTools.detach()
    return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close()
  }
}

/** An open page. */
export class Visit implements AsyncDisposable {
  readonly page: Page
  /** Paths, in the order in which they were asked for. */
  readonly requests: string[] = []
  readonly #devTools: CDPSession

  constructor(page: Page, devTools: CDPSession) {
    this.page = page
    this.#devTools = devTools
    page.on('request', (request) => this.requests.push(new URL(request.url()).pathname))
  }

  /** Of the page's scripts, once the garbage is collected. */
  async heapMb(): Promise<number> {
    await this.#devTools.send('HeapProfiler.collectGarbage')
    const { usedSize } = await this.#devTools.send('Runtime.getHeapUsage')
    return usedSize / 1e6
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close()
  }
}
