import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { CHROMIUM_FLAGS, chromiumProgram } from '@millrace/dev-env/chromium'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

const FLAGS = ['--headless', ...CHROMIUM_FLAGS, '--remote-debugging-port=0']
const START_MS = 30_000
const LOOK_AGAIN_MS = 20

/**
 * The system's Chromium with a profile of its own, which outlives a kill: open another on the same profile to see what
 * the first one left.
 */
export class Chromium implements AsyncDisposable {
  readonly profile: string
  private readonly process: ChildProcess
  private readonly ended: Promise<unknown>
  private browser: Browser | undefined

  /** @param options `noDefaults`: tabs are shown and hidden as they are for a person; else each takes itself to be in front. */
  static async open(
    profile = mkdtempSync(path.join(tmpdir(), 'millrace-chromium-')),
    options: { readonly noDefaults?: boolean } = {},
  ): Promise<Chromium> {
    const portFile = path.join(profile, 'DevToolsActivePort')
    rmSync(portFile, { force: true })
    const chromium = new Chromium(profile)
    await chromium.connect(portFile, options)
    return chromium
  }

  private constructor(profile: string) {
    this.profile = profile
    // A process group of its own, so that a kill takes all of its processes at the same moment.
    this.process = spawn(neededChromium(), [...FLAGS, `--user-data-dir=${profile}`, 'about:blank'], {
      detached: true,
      stdio: 'ignore',
    })
    this.ended = new Promise((resolve) => this.process.once('exit', resolve))
  }

  get context(): BrowserContext {
    return this.browser!.contexts()[0]!
  }

  async page(url: string): Promise<Page> {
    const page = await this.context.newPage()
    await page.goto(url)
    return page
  }

  /** Ends as it does for a user: what it has not yet written reaches the disk. */
  async quit(): Promise<void> {
    const session = await this.browser!.newBrowserCDPSession()
    await session.send('Browser.close')
    await this.ended
  }

  /** SIGKILL to all of its processes. */
  async kill(): Promise<void> {
    try {
      process.kill(-this.process.pid!, 'SIGKILL')
    } catch {
      // It has ended already.
    }
    await this.ended
  }

  /** Ends every page as a kill of its process does: none of them can send anything more. */
  async crashPages(): Promise<void> {
    // With its first tab the browser would end.
    const [, ...pages] = this.context.pages()
    // Pages of one origin may share a process.
    const crashed = pages.map((page) => new Promise((resolve) => page.once('crash', resolve)))
    for (const page of pages) {
      const session = await this.context.newCDPSession(page).catch(() => undefined)
      void session?.send('Page.crash').catch(() => 'it does not answer')
    }
    await Promise.all(crashed)
    for (const page of pages) await page.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 })
  }

  private async connect(portFile: string, options: { readonly noDefaults?: boolean }): Promise<void> {
    for (const deadline = Date.now() + START_MS; !existsSync(portFile) || readFileSync(portFile, 'utf8') === ''; ) {
      if (Date.now() > deadline) throw new Error('Chromium did not start')
      await delay(LOOK_AGAIN_MS)
    }
    const [port] = readFileSync(portFile, 'utf8').split('\n')
    this.browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`, options)
  }
}

/** @throws Error where there is no Chromium. */
export function neededChromium(find = chromiumProgram): string {
  const program = find()
  if (program === undefined) throw new Error('These tests need Chromium; .ci/run installs it')
  return program
}
