import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { builtDashboard } from '@millrace/dashboard'
import { Sink } from '@millrace/dev-env'
import type { Browser } from 'playwright-core'
import { type Environment, PLAIN, ServerProcess } from '../e2e/server-process.ts'
import { openBrowser, openVisit, type PageOptions, type Visit } from './browser.ts'
import { FlakyProxy } from './flaky-proxy.ts'

const TOKEN = PLAIN['MILLRACE_OWNER_TOKEN']!

/**
 * The product as a process of its own, with a proxy in front of it and a browser: it can be stopped, paused and started again
 * under an open page, as `Dashboard`, which runs in the process of the test, cannot.
 */
export class ProductProcess implements AsyncDisposable {
  readonly sink: Sink
  readonly proxy: FlakyProxy
  readonly #folder: string
  readonly #settings: Environment
  readonly #browser: Browser
  #server: ServerProcess

  static async open(settings: Environment = {}): Promise<ProductProcess> {
    await builtDashboard(() => {})
    const folder = mkdtempSync(path.join(tmpdir(), 'millrace-process-'))
    // A session is of one port.
    const MILLRACE_PORT = String(await freePort())
    const environment = { ...PLAIN, MILLRACE_PORT, MILLRACE_DATA_DIR: folder, MILLRACE_DASHBOARD: 'on', ...settings }
    const [server, sink, browser] = [await ServerProcess.start(environment), await Sink.open(), await openBrowser()]
    const proxy = await FlakyProxy.open(() => server.url)
    return new ProductProcess(folder, environment, server, sink, proxy, browser)
  }

  private constructor(
    folder: string,
    settings: Environment,
    server: ServerProcess,
    sink: Sink,
    proxy: FlakyProxy,
    browser: Browser,
  ) {
    this.#folder = folder
    this.#settings = settings
    this.#server = server
    this.sink = sink
    this.proxy = proxy
    this.#browser = browser
  }

  get url(): string {
    return this.#server.url
  }

  visit(to: string, options: PageOptions = {}): Promise<Visit> {
    return openVisit(this.#browser, this.proxy.url, to, { token: TOKEN, ...options })
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it as it knows it to be
  async api(method: string, route: string, body?: object): Promise<any> {
    const headers = { Authorization: `Bearer ${TOKEN}` }
    const answer = await fetch(`${this.url}${route}`, { method, headers, body: body ? JSON.stringify(body) : null })
    if (!answer.ok) throw new Error(`${method} ${route} was answered ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }

  async send(writeKey: string, event: object): Promise<void> {
    const headers = { Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` }
    const answer = await fetch(`${this.url}/v1/track`, { method: 'POST', headers, body: JSON.stringify(event) })
    if (!answer.ok) throw new Error(`the event was answered ${answer.status}`)
  }

  /** It takes connections and answers none. */
  pause(): void {
    this.#server.signal('SIGSTOP')
  }

  resume(): void {
    this.#server.signal('SIGCONT')
  }

  async stop(): Promise<void> {
    await this.#server.stop()
    // What the browser keeps open is open to the proxy alone.
    this.proxy.breakAll()
  }

  async kill(): Promise<void> {
    await this.#server[Symbol.asyncDispose]()
    this.proxy.breakAll()
  }

  async start(): Promise<void> {
    this.#server = await ServerProcess.start(this.#settings)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.resume()
    await this.#browser.close()
    await this.proxy[Symbol.asyncDispose]()
    await this.#server[Symbol.asyncDispose]()
    await this.sink[Symbol.asyncDispose]()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
