import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { ownEnvironment } from '@millrace/dev-env/own-environment'
import type { EndMessage } from './end-threads.ts'

const ROOT = path.dirname(import.meta.dirname)
const END_THREADS = pathToFileURL(path.join(import.meta.dirname, 'end-threads.ts')).href
const OWNER_TOKEN = 'owner-token-of-the-chaos-programs'
export const SCHEMA_PASSWORD = 'password-of-the-chaos-programs'
const START_TIMEOUT_MS = 60_000
const CALL_TIMEOUT_MS = 30_000
/** Lines of the log that are kept. */
const KEPT_LINES = 2_000
const READY = /is ready: (\S+)/

const children = new Set<ChildProcess>()
process.on('exit', endAllProducts)

/** However a run ends, what it started ends too. */
export function endAllProducts(): void {
  for (const child of children) child.kill('SIGKILL')
}

export interface ProductOptions {
  /** Its data folder. */
  readonly folder: string
  readonly environment?: Readonly<Record<string, string>>
  /** The program that composes it; the one that people start unless given. */
  readonly entry?: string
  /** Folder of the release that runs; this one unless given. */
  readonly checkout?: string
  /** `tell` may be used: a file is loaded before the product that ends its threads. */
  readonly canBeTold?: boolean
  /** Words before it: what runs it in surroundings of its own, in the same process. */
  readonly through?: readonly string[]
}

/** The product as people start it: a process that is seen and broken from outside only. */
export class Product implements AsyncDisposable {
  /** Of every product of the run that goes on. */
  static deliveryThreads = 1
  /** The exit code, once all its output is here; null when a signal ended it. */
  readonly exited: Promise<number | null>
  /** The newest lines of its log. */
  readonly lines: string[] = []
  /** Lines of the log that no trouble explains: level error and above. */
  readonly errors: string[] = []
  readonly #child: ChildProcess
  readonly #ready = Promise.withResolvers<string>()
  #url = ''

  /** @returns once it says that it is ready. @throws Error with the end of its log if it does not. */
  static async start(options: ProductOptions): Promise<Product> {
    const product = new Product(options)
    await product.ready()
    return product
  }

  constructor({ folder, environment = {}, entry, checkout = ROOT, through = [], canBeTold = false }: ProductOptions) {
    const loaded = canBeTold ? ['--import', END_THREADS] : []
    const start = entry === undefined ? [path.join(checkout, 'apps/server/src/main.ts'), 'start'] : [entry]
    const [program, ...words] = [...through, process.execPath, ...loaded, ...start]
    this.#child = spawn(program!, words, {
      env: { ...ownEnvironment(), ...plain(folder), ...environment },
      stdio: ['ignore', 'pipe', 'pipe', ...(canBeTold ? (['ipc'] as const) : [])],
    })
    children.add(this.#child)
    const { promise, resolve } = Promise.withResolvers<number | null>()
    this.exited = promise
    this.#child.once('close', (code) => {
      children.delete(this.#child)
      this.#ready.reject(new Error(`the product ended with ${code} before it was ready: ${this.lines.at(-1) ?? ''}`))
      resolve(code)
    })
    this.#ready.promise.catch(() => {})
    createInterface(this.#child.stdout!).on('line', (line) => {
      const url = READY.exec(line)?.[1]
      if (url !== undefined) this.#ready.resolve(url)
    })
    createInterface(this.#child.stderr!).on('line', (line) => this.#note(line))
  }

  async ready(): Promise<void> {
    const late = delay(START_TIMEOUT_MS, undefined, { ref: false })
    const url = await Promise.race([this.#ready.promise, late])
    if (url === undefined) throw new Error(`the product was not ready within ${START_TIMEOUT_MS} ms`)
    this.#url = url
  }

  get url(): string {
    return this.#url
  }

  get port(): number {
    return Number(new URL(this.#url).port)
  }

  get pid(): number {
    return this.#child.pid!
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Resident memory now. */
  get residentBytes(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
  }

  /** Ends one of its threads, or has it throw where nothing catches. */
  tell(message: EndMessage): void {
    this.#child.send(message)
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /** kill -9. Resolves when it is gone. */
  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.exited
  }

  /** SIGTERM. @returns the exit code. */
  stop(): Promise<number | null> {
    this.signal('SIGTERM')
    return this.exited
  }

  /** Calls a route as the owner. @returns the body, undefined if there is none. @throws Error unless the answer is 2xx. */
  // biome-ignore lint/suspicious/noExplicitAny: a program looks into it as it knows it to be
  async call(method: string, route: string, body?: object): Promise<any> {
    const { status, json, text } = await this.answer(method, route, body)
    if (status >= 300) throw new Error(`${method} ${route} was answered ${status} ${text}`)
    return json
  }

  /** The same whatever the status. */
  async answer(method: string, route: string, body?: object) {
    const answer = await this.stream(route, method, body)
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, text, json: parsed(text) }
  }

  /** Resolves when the answer begins; its body is to be read. */
  stream(route: string, method = 'GET', body?: object): Promise<Response> {
    const schema = `Basic ${btoa(`admin:${SCHEMA_PASSWORD}`)}`
    const authorization = route.startsWith('/schemas/') ? schema : `Bearer ${OWNER_TOKEN}`
    return fetch(`${this.#url}${route}`, {
      method,
      headers: { authorization },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }

  #note(line: string): void {
    this.lines.push(line)
    if (this.lines.length > KEPT_LINES) this.lines.shift()
    if (/"level":(50|60)/.test(line) && this.errors.length < KEPT_LINES) this.errors.push(line)
  }
}

/** One command of the command line, in a process of its own. */
export async function command(words: readonly string[], environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [path.join(ROOT, 'apps/server/src/main.ts'), ...words], {
    env: { ...ownEnvironment(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [out, err] = await Promise.all([textOf(child.stdout!), textOf(child.stderr!)])
  children.delete(child)
  return { code: await ended, out, err }
}

function plain(folder: string): Record<string, string> {
  return {
    MILLRACE_DATA_DIR: folder,
    MILLRACE_PORT: '0',
    MILLRACE_QUICKSTART: 'off',
    MILLRACE_DASHBOARD: 'off',
    MILLRACE_API_RPM: '0',
    MILLRACE_MIN_FREE_DISK_MB: '0',
    MILLRACE_OWNER_TOKEN: OWNER_TOKEN,
    MILLRACE_DELIVERY_THREADS: String(Product.deliveryThreads),
    SERVICE_ADMIN_PASSWORD: SCHEMA_PASSWORD,
    NODE_COMPILE_CACHE: path.join(ROOT, 'node_modules/.cache/compile'),
  }
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  for await (const chunk of stream) text += chunk
  return text
}

function parsed(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
