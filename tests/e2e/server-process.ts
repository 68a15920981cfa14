import { type ChildProcess, spawn } from 'node:child_process'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { EndMessage } from '@millrace/chaos/end-threads'

const ROOT = path.dirname(path.dirname(import.meta.dirname))
const END_THREADS = pathToFileURL(path.join(ROOT, 'chaos/end-threads.ts')).href
/** The program. */
export const MAIN = path.join(ROOT, 'apps/server/src/main.ts')
/** Most of a start is reading TypeScript; the tests start many times. */
const COMPILE_CACHE = path.join(ROOT, 'node_modules/.cache/code')
/** A busy machine of two cores has taken over 15 s to start a process; how fast a start is, a benchmark says. */
const DEADLINE_MS = 60_000

/** Environment variables of a server. */
export type Environment = Readonly<Record<string, string>>

/** For a server that a test starts as a process: any port, no sample events, no limits of the machine it runs on. */
export const PLAIN: Environment = {
  // The whole suite also runs with several threads.
  MILLRACE_DELIVERY_THREADS: process.env['MILLRACE_DELIVERY_THREADS'] ?? '1',
  MILLRACE_PORT: '0',
  MILLRACE_QUICKSTART: 'off',
  MILLRACE_API_RPM: '0',
  MILLRACE_MIN_FREE_DISK_MB: '0',
  MILLRACE_OWNER_TOKEN: 'e2e-owner-0123456789-0123456789',
}

interface HowToRun {
  /** `tell` may be used. */
  readonly canBeTold?: boolean
  /** A program with its arguments that becomes the server, such as `unshare --net`. */
  readonly within?: readonly string[]
}

/** The product as people start it: a process of its own, seen only through its output, its exit code and HTTP. */
export class ServerProcess implements AsyncDisposable {
  /** All of it up to now. */
  stdout = ''
  stderr = ''
  /** The exit code, once all output is here; null when a signal ended it. */
  readonly exited: Promise<number | null>
  readonly #process: ChildProcess
  readonly #watchers = new Set<() => void>()

  /** @returns once it says that it is ready. */
  static async start(environment: Environment, options: HowToRun = {}): Promise<ServerProcess> {
    const server = new ServerProcess(environment, options)
    await server.printed(/is ready: \S+\n/)
    return server
  }

  constructor(environment: Environment, { canBeTold = false, within = [] }: HowToRun = {}) {
    const imports = canBeTold ? ['--import', END_THREADS] : []
    const [program, ...args] = [...within, process.execPath, ...imports, MAIN, 'start']
    this.#process = spawn(program!, args, {
      env: {
        PATH: process.env['PATH'] ?? '',
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        // Would be built first.
        MILLRACE_DASHBOARD: 'off',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe', ...(canBeTold ? (['ipc'] as const) : [])],
    })
    this.#process.stdout!.on('data', (chunk: Buffer) => this.#print({ stdout: chunk.toString() }))
    this.#process.stderr!.on('data', (chunk: Buffer) => this.#print({ stderr: chunk.toString() }))
    this.exited = new Promise((resolve) => this.#process.once('close', resolve))
  }

  get url(): string {
    const [, url] = /is ready: (\S+)\n/.exec(this.stdout)!
    return url!
  }

  /** Resolves with the match once the standard output has one. */
  printed(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#said(() => this.stdout, pattern)
  }

  /** The same of the log. */
  logged(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#said(() => this.stderr, pattern)
  }

  /** Ends a thread of it, or has it throw where nothing catches. */
  tell(message: EndMessage): void {
    this.#process.send(message)
  }

  signal(name: NodeJS.Signals): void {
    this.#process.kill(name)
  }

  /** SIGTERM. @returns the exit code. */
  stop(): Promise<number | null> {
    this.signal('SIGTERM')
    return this.exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal('SIGKILL')
    await this.exited
  }

  #said(output: () => string, pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const give = (message: string) => reject(new Error(`${message}\nstdout: ${this.stdout}\nstderr: ${this.stderr}`))
      const timer = setTimeout(() => give(`${pattern} did not come in time`), DEADLINE_MS)
      const look = () => {
        const match = pattern.exec(output())
        if (match === null) return
        clearTimeout(timer)
        this.#watchers.delete(look)
        resolve(match)
      }
      this.#watchers.add(look)
      look()
      void this.exited.then((code) => {
        look()
        clearTimeout(timer)
        give(`the server ended with ${code} before ${pattern}`)
      })
    })
  }

  #print({ stdout = '', stderr = '' }): void {
    this.stdout += stdout
    this.stderr += stderr
    for (const watcher of this.#watchers) watcher()
  }
}
