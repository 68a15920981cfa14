import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'

const START_MS = 90_000
const STOP_MS = 30_000
const LOOK_AGAIN_MS = 50

export interface BrokerOptions {
  readonly id: number
  readonly host: string
  readonly port: number
  /** Its data, settings and log file; formatted. */
  readonly folder: string
  readonly jars: string
  /** A command that runs the broker, for example in a network namespace; empty: none. */
  readonly within: readonly string[]
}

/** A Kafka broker as a child process. It ends with this process, also if this process is killed. */
export class Broker {
  readonly id: number
  readonly #options: BrokerOptions
  #process: ChildProcess | undefined
  #exited: Promise<void> = Promise.resolve()
  #guard: ChildProcess | undefined

  constructor(options: BrokerOptions) {
    this.id = options.id
    this.#options = options
  }

  /** `host:port` for clients. */
  get address(): string {
    return `${this.#options.host}:${this.#options.port}`
  }

  get pid(): number | undefined {
    return this.#process?.pid
  }

  /** Resolves once its port is open. @throws Error with the end of its log if it ends before. */
  async start(): Promise<void> {
    if (this.#process !== undefined) return
    const { folder, within } = this.#options
    const log = openSync(path.join(folder, 'broker.log'), 'a')
    const java = ['java', ...jvmArguments(this.#options.jars), 'kafka.Kafka', path.join(folder, 'server.properties')]
    const [command, ...rest] = [...within, ...java]
    // Ctrl-C in a terminal reaches this process alone, which ends the broker after its clients.
    const child = spawn(command!, rest, { cwd: folder, stdio: ['ignore', log, log], detached: true })
    closeSync(log)
    this.#process = child
    let problem: string | undefined
    this.#exited = new Promise((resolve) => {
      const ended = (cause: string) => {
        problem ??= cause
        this.#release()
        resolve()
      }
      child.once('error', (error) => ended(error.message))
      child.once('exit', (code, signal) => ended(`it ended with ${signal ?? `code ${code}`}`))
    })
    if (child.pid !== undefined) this.#guard = guardOf(child.pid)
    for (const deadline = performance.now() + START_MS; !(await this.#isOpen()); await delay(LOOK_AGAIN_MS)) {
      if (problem === undefined && performance.now() < deadline) continue
      const cause = problem ?? `its port was not open after ${START_MS / 1000} s`
      await this.kill()
      throw new Error(`broker ${this.id} did not start: ${cause}\n${await this.#endOfLog()}`)
    }
  }

  /** Ends it in order: it hands over its partitions and closes its files. */
  async stop(): Promise<void> {
    this.resume()
    this.#process?.kill('SIGTERM')
    const timer = setTimeout(() => this.#process?.kill('SIGKILL'), STOP_MS)
    await this.#exited
    clearTimeout(timer)
  }

  /** Ends it as a power switch ends a machine, but for what the operating system writes later. */
  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL')
    await this.#exited
  }

  /** Stops it; its connections stay open. Resolves once all of its threads stand still. */
  async pause(): Promise<void> {
    this.#process?.kill('SIGSTOP')
    while (this.pid !== undefined && !(await isStopped(this.pid))) await delay(LOOK_AGAIN_MS)
  }

  resume(): void {
    this.#process?.kill('SIGCONT')
  }

  #release(): void {
    this.#process = undefined
    this.#guard?.kill('SIGKILL')
    this.#guard = undefined
  }

  #isOpen(): Promise<boolean> {
    const { host, port } = this.#options
    return new Promise((resolve) => {
      const socket = connect({ host, port, timeout: 1_000 })
      const end = (isOpen: boolean) => {
        socket.destroy()
        resolve(isOpen)
      }
      socket
        .once('connect', () => end(true))
        .once('error', () => end(false))
        .once('timeout', () => end(false))
    })
  }

  async #endOfLog(): Promise<string> {
    return (await readFile(path.join(this.#options.folder, 'broker.log'), 'utf8')).slice(-2_000)
  }
}

/** With less heap than 256 MB the broker's log cleaner ends for lack of memory. */
export function jvmArguments(jars: string): string[] {
  const memory = ['-Xms128m', '-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Djava.awt.headless=true']
  return [...memory, '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-cp', path.join(jars, '*')]
}

/** A shell that ends the broker when this process is gone: its input closes then, however this process ended. */
function guardOf(pid: number): ChildProcess {
  const guard = spawn('sh', ['-c', 'read -r _; kill -9 "$0" 2>/dev/null', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  guard.unref()
  return guard
}

async function isStopped(pid: number): Promise<boolean> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'state=', '-p', String(pid)])
  return stdout.startsWith('T')
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
