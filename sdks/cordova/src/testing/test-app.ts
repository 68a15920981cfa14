import { randomUUID } from 'node:crypto'
import type { Bridge } from '../core/bridge.ts'
import { type ServiceClientMethods, serviceClient } from '../core/calls/methods.ts'
import type { Host, Route } from '../core/host.ts'
import { MemoryDevice } from './memory-device.ts'
import { ScenarioServer } from './scenario-server.ts'

const DEADLINE_MS = 10_000

/** An app on a device in this process: starts, is killed, starts again; events are seen at a real server. */
export class TestApp implements AsyncDisposable {
  readonly device = new MemoryDevice()
  readonly server: ScenarioServer
  client: ServiceClientMethods
  /** Lines of the console, with their level. */
  readonly printed: { readonly level: number; readonly line: string }[] = []
  /** Calls of the bridge since the start, by action. */
  calls: string[] = []
  /** Members over those of a page in a browser. */
  readonly host: Partial<Host>
  onRoute: (route: Route) => void = () => undefined

  static async open(host: Partial<Host> = {}): Promise<TestApp> {
    return new TestApp(await ScenarioServer.open(), host)
  }

  private constructor(server: ScenarioServer, host: Partial<Host>) {
    this.server = server
    this.host = host
    this.client = this.launch()
  }

  /** initialize with the address of the server, without lifecycle events unless asked for, then what is given. */
  ready(configuration: object = {}, options?: object): Promise<unknown> {
    const standard = { dataPlaneUrl: this.server.url, trackLifecycleEvents: false }
    return this.client.initialize('wk-1', { ...standard, ...configuration }, options)
  }

  /** The process ends and the app starts again. */
  async restart(): Promise<void> {
    await this.device.kill()
    this.client = this.launch()
  }

  /** The page is loaded again, in the same process. */
  reload(): void {
    this.client = this.launch()
  }

  /** Events in the queue, whole. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into them as it knows them to be
  async queued(): Promise<any[]> {
    const events: unknown[] = []
    await this.device.bridge.visit(({ body }) => {
      events.push(JSON.parse(body))
      return true
    })
    return events as never
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test looks into them as it knows them to be
  async last(): Promise<any> {
    return (await this.queued()).at(-1)
  }

  /** Resolves once a condition holds that the sockets of the server bring about. @throws Error after 10 s. */
  async until(isMet: () => boolean | Promise<boolean>): Promise<void> {
    for (const deadline = Date.now() + DEADLINE_MS; !(await isMet()); await new Promise((done) => setImmediate(done))) {
      if (Date.now() > deadline) throw new Error('what the test waits for did not happen')
    }
  }

  warnings(): string[] {
    return this.printed.filter(({ level }) => level === 2).map(({ line }) => line)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.device[Symbol.asyncDispose]()
    await this.server[Symbol.asyncDispose]()
  }

  private launch(): ServiceClientMethods {
    this.calls = []
    const { clock } = this.device
    return serviceClient({
      clock,
      platform: 'browser',
      exec: () => undefined,
      webBridge: () => this.countedBridge(),
      nextId: randomUUID,
      guard: (text) => this.device.pageGuard(text),
      print: (level, line) => void this.printed.push({ level, line }),
      page: () => ({ language: 'de-DE', timezone: 'Europe/Berlin', userAgent: 'Test/1.0' }),
      watchRoutes: (onRoute) => {
        this.onRoute = onRoute
      },
      ...this.host,
    })
  }

  /** The engine of the process that runs, with each call noted. */
  private countedBridge(): Bridge {
    const { device, calls } = this
    const engine = device.bridge
    const noted =
      <Argument, Value>(name: string, call: (argument: Argument) => Promise<Value>) =>
      (argument: Argument): Promise<Value> => {
        calls.push(name)
        // By its name, because a test may have put another one in its place.
        const { [name]: now = call } = engine as unknown as Record<string, typeof call>
        return now.call(engine, argument)
      }
    return {
      listen: (hear) =>
        engine.listen((signal) => {
          device.heard.push(signal)
          hear(signal)
        }),
      open: noted('open', engine.open),
      push: noted('push', engine.push),
      state: noted('state', engine.state),
      tail: noted('tail', engine.tail),
      drain: noted('drain', engine.drain),
      purge: noted('purge', engine.purge),
      config: noted('config', engine.config),
      advertId: () => noted('advertId', engine.advertId)(undefined),
    }
  }
}
