import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { builtDashboard } from '@millrace/dashboard'
import { DevEnv, type DevEnvOptions } from '@millrace/dev-env'
import { CHROMIUM_FLAGS, headlessProgram } from '@millrace/dev-env/chromium'
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core'
import { neededChromium } from '../sdk/chromium.ts'
import { FlakyProxy } from './flaky-proxy.ts'

const TIMEOUT_MS = 15_000
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const ONE_PROCESS_PER_SITE = '--process-per-site'
/** Its own, and the one that keeps the process. */
const PAGES_OF_A_VISIT = 2
export const IS_FULL = process.env['FULL'] !== undefined
/** Themes, and widths of the window: on a phone, and on a desk, as a visit begins. */
const LOOKS = [
  ['dark', 360],
  ['light', 1440],
] as const
/** The checks in one look that were made: they take the looks by turns. */
let turns = 0
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

export interface PageOptions {
  readonly width?: number
  readonly height?: number
  readonly theme?: 'light' | 'dark'
  /** Signed in with this token; the owner's unless given; null: not signed in. */
  readonly token?: string | null
  readonly email?: string
  /** Whether nothing may be in its caches yet. */
  readonly isFresh?: boolean
}

/** The running product with its dashboard, a proxy in front of it, and a browser. */
export class Dashboard implements AsyncDisposable {
  readonly env: DevEnv
  readonly proxy: FlakyProxy
  readonly #browser: Browser

  static async open(
    settings: Readonly<Record<string, string>> = {},
    options: Pick<DevEnvOptions, 'clock'> = {},
  ): Promise<Dashboard> {
    const dashboardFolder = await builtDashboard(() => {})
    const env = await DevEnv.open({ settings, dashboardFolder, ...options })
    const proxy = await FlakyProxy.open(() => env.url)
    const browser = await openBrowser()
    return new Dashboard(env, proxy, browser)
  }

  private constructor(env: DevEnv, proxy: FlakyProxy, browser: Browser) {
    this.env = env
    this.proxy = proxy
    this.#browser = browser
  }

  /** @param path below /ui: `/sources?q=x`. */
  visit(path: string, options: PageOptions = {}): Promise<Visit> {
    return openVisit(this.#browser, this.proxy.url, path, { token: this.env.token, ...options })
  }

  /** For pictures: not of the product. */
  async blankPage(width: number): Promise<Page> {
    return (await this.#browser.newContext({ viewport: { width, height: 800 } })).newPage()
  }

  /** @returns the token of a new user with this role. */
  async newUser(role: 'viewer' | 'editor' | 'admin', email = `${role}@cinema.example`): Promise<string> {
    const { status, text, json } = await this.env.api('POST', '/v2/users', { email, role })
    if (status !== 200) throw new Error(`no user was made: ${text}`)
    return json.token
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close()
    await this.proxy[Symbol.asyncDispose]()
    await this.env[Symbol.asyncDispose]()
  }
}

export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: neededChromium(headlessProgram),
    args: [...CHROMIUM_FLAGS, ONE_PROCESS_PER_SITE],
  })
}

/** @param origin of the product, or of the proxy in front of it. */
export async function openVisit(browser: Browser, origin: string, path: string, options: PageOptions): Promise<Visit> {
  const { width = 1440, height = 900, theme = 'light', token = null, email = 'owner@localhost', isFresh } = options
  const user = token === null || isFresh ? undefined : JSON.stringify([origin, width, height, theme, email, token])
  const known = user === undefined ? undefined : leftAsFound(browser).get(user)?.pop()
  const context = known?.context ?? (await newContext(browser, origin, width, height, theme))
  const page = await context.newPage()
  let signedIn = known?.storage
  if (known !== undefined) {
    await page.goto(`/ui${path}`)
    await page.locator('#page').or(page.getByLabel('Personal access token')).waitFor()
    // The session may have ended since.
    if (!(await page.locator('#page').isVisible())) {
      await context.close()
      return openVisit(browser, origin, path, options)
    }
  } else if (token === null) {
    await page.goto(`/ui${path}`)
  } else {
    await page.goto(`/ui/sign-in?next=${encodeURIComponent(`/ui${path}`)}`)
    await signIn(page, email, token)
    await page.locator('#page').waitFor()
    if (user !== undefined) signedIn = await storageOf(context)
  }
  return new Visit(page, origin, async () => {
    if (user === undefined || signedIn === undefined || context.pages().length > PAGES_OF_A_VISIT)
      return context.close()
    await page.close()
    if ((await storageOf(context)) !== signedIn) return context.close()
    const contexts = leftAsFound(browser)
    contexts.set(user, [...(contexts.get(user) ?? []), { context, storage: signedIn }])
  })
}

/** Contexts with the storage that they had after the sign-in, by who is signed in: their caches are warm. */
type LeftAsFound = Map<string, { readonly context: BrowserContext; readonly storage: string }[]>

const byBrowser = new WeakMap<Browser, LeftAsFound>()

function leftAsFound(browser: Browser): LeftAsFound {
  const contexts: LeftAsFound = byBrowser.get(browser) ?? new Map()
  byBrowser.set(browser, contexts)
  return contexts
}

async function newContext(browser: Browser, baseURL: string, width: number, height: number, theme: 'light' | 'dark') {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    timezoneId: 'Europe/Amsterdam',
    locale: 'en-GB',
    permissions: ['clipboard-read', 'clipboard-write'],
    baseURL,
  })
  context.setDefaultTimeout(TIMEOUT_MS)
  // Keeps the process of the site alive between two visits, with the code that it has compiled.
  await (await context.newPage()).goto('/health')
  return context
}

/** Cookies without the time at which they end, and what origins keep. */
async function storageOf(context: BrowserContext): Promise<string> {
  const { cookies, origins } = await context.storageState()
  return JSON.stringify([cookies.map(({ name, value }) => [name, value]), origins])
}

export async function signIn(page: Page, email: string, token: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Personal access token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL((url) => !url.pathname.endsWith('/sign-in'))
}

interface AxeViolation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/**
 * A page that is watched: at its end it fails on every error in its console, violation of the Content-Security-Policy and
 * request to another origin.
 */
export class Visit implements AsyncDisposable {
  readonly page: Page
  /** Clicks, taps and key chords; typing and pasting are free (contracts/dashboard.md §1). */
  clicks = 0
  /** What this page did that none may. */
  readonly faults: string[] = []

  readonly #leave: () => Promise<void>

  /** @param leave closes the page, and what nobody else is to find. */
  constructor(page: Page, origin: string, leave: () => Promise<void>) {
    this.page = page
    this.#leave = leave
    page.on('console', (message) => {
      // Chromium's own line for each answer above 399, which may well be meant.
      const isOwn = !message.text().startsWith('Failed to load resource')
      if (message.type() === 'error' && isOwn) this.faults.push(`console: ${message.text()}`)
    })
    page.on('pageerror', (error) => this.faults.push(`error: ${error.stack ?? error.message}`))
    page.on('request', (request) => {
      const url = new URL(request.url())
      if (url.origin !== origin && !['data:', 'blob:', 'about:'].includes(url.protocol)) {
        this.faults.push(`foreign request: ${url.href}`)
      }
    })
  }

  async click(target: Locator): Promise<void> {
    this.clicks++
    await target.click()
  }

  /** A chord such as `Control+K`, or two keys after each other such as `g s`. */
  async press(keys: string): Promise<void> {
    this.clicks++
    for (const key of keys.split(' ')) await this.page.keyboard.press(key)
  }

  /** To another page as a link of the dashboard leads there: nothing is loaded anew. @param path below /ui */
  async go(path: string): Promise<void> {
    await this.page.evaluate(`history.pushState({}, '', ${JSON.stringify(`/ui${path}`)})`)
  }

  /** Resolves when the page has its title, and shows no part as still loading. */
  async settled(): Promise<void> {
    await this.page.locator('h1').filter({ hasText: /\w/ }).waitFor()
    await this.page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
  }

  /**
   * What axe-core finds and how the page scrolls sideways, light in a wide window or dark in a narrow one: none may. Only the
   * full form looks at each page in both.
   */
  async flaws(): Promise<string[]> {
    const found: string[] = []
    for (const [theme, width] of IS_FULL ? LOOKS : [LOOKS[turns++ % LOOKS.length]!]) {
      await this.page.emulateMedia({ colorScheme: theme })
      await this.page.setViewportSize({ width, height: this.page.viewportSize()!.height })
      // A new look is drawn with the second frame.
      await this.page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
      await this.page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
      const flaws = await this.axe()
      if ((await this.sideways()) > 0) flaws.push('scrolls sideways')
      found.push(...flaws.map((flaw) => `${theme}, ${width} px: ${flaw}`))
    }
    return found
  }

  /** What axe-core finds, one line each. */
  async axe(): Promise<string[]> {
    await this.page.evaluate(AXE)
    const found: readonly AxeViolation[] = await this.page.evaluate(
      `axe.run(document, ${JSON.stringify({ runOnly: TAGS, resultTypes: ['violations'] })}).then(({ violations }) => violations)`,
    )
    return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`))
  }

  /** By how many pixels the page is wider than its window. */
  sideways(): Promise<number> {
    return this.page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leave()
    if (this.faults.length > 0) throw new Error(this.faults.join('\n'))
  }
}
