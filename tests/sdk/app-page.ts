import type { Page } from 'playwright-core'
import type { Chromium } from './chromium.ts'

/** A page of the app, with ServiceClient called from outside. */
export class AppPage {
  readonly page: Page
  /** Lines of the console with the SDK's prefix. */
  readonly printed: string[] = []
  /** Errors that reached the page: the SDK must not cause any. */
  readonly errors: Error[] = []

  /** @param prepare what is done to the page before it is loaded. */
  static async open(chromium: Chromium, url: string, prepare?: (page: Page) => Promise<unknown>): Promise<AppPage> {
    const app = new AppPage(await chromium.context.newPage())
    await prepare?.(app.page)
    await app.page.goto(url)
    await app.page.waitForFunction('globalThis.ServiceClient !== undefined')
    return app
  }

  private constructor(page: Page) {
    this.page = page
    page.on('console', (message) => message.text().startsWith('[ServiceClient]') && this.printed.push(message.text()))
    page.on('pageerror', (error) => this.errors.push(error))
  }

  // biome-ignore lint/suspicious/noExplicitAny: what a method answers is looked into by the test
  call(method: string, ...given: readonly unknown[]): Promise<any> {
    return this.page.evaluate(`ServiceClient.${method}(${given.map((each) => JSON.stringify(each)).join(', ')})`)
  }

  /** Calls that an app makes in one turn; resolves with the last result. */
  // biome-ignore lint/suspicious/noExplicitAny: what a method answers is looked into by the test
  trackAll(names: readonly string[], properties: object = {}): Promise<any> {
    const [list, given] = [JSON.stringify(names), JSON.stringify(properties)]
    return this.page.evaluate(`Promise.all(${list}.map((name) => ServiceClient.track(name, ${given})))`)
  }

  /** Keys of localStorage: nothing but the guard may be there. */
  storedKeys(): Promise<unknown> {
    return this.page.evaluate('Object.keys(localStorage)')
  }
}
