import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ownEnvironment } from '@millrace/dev-env/own-environment'

const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 20_000

const children = new Set<ChildProcess>()
const folders = new Set<string>()
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** However the bench ends, the child ends too. */
export function endWithBench(child: ChildProcess): void {
  children.add(child)
  child.on('exit', () => children.delete(child))
}

export interface ProgramOptions {
  /** Makes in the folder what the program is to find there. */
  readonly prepare?: (folder: string) => void
  /** Words before Node: what runs it in surroundings of its own, in the same process. */
  readonly through?: readonly string[] | undefined
  /** Arguments of Node. Those that need the folder are given it. */
  readonly command: (folder: string) => readonly string[]
  readonly env?: (folder: string) => Readonly<Record<string, string>>
  /** Until it has printed its address. Default 20 s. */
  readonly startTimeoutMs?: number | undefined
}

/** The product or a limit program: a process that prints its address once it serves, with a folder of its own. */
export class Program implements AsyncDisposable {
  readonly folder: string
  readonly url: string
  readonly #child: ChildProcess
  #isToEnd = false

  /** Resolves when the program has printed its address. @throws Error with what it wrote if it does not. */
  static async start(options: ProgramOptions): Promise<Program> {
    const { command, env = () => ({}), prepare = () => {}, startTimeoutMs = START_TIMEOUT_MS, through = [] } = options
    const folder = mkdtempSync(path.join(tmpdir(), 'millrace-bench-'))
    folders.add(folder)
    prepare(folder)
    const errors = openSync(errorFile(folder), 'w')
    const [program, ...words] = [...through, process.execPath, ...command(folder)]
    const child = spawn(program!, words, {
      env: { ...ownEnvironment(), ...env(folder) },
      stdio: ['ignore', 'pipe', errors],
    })
    closeSync(errors)
    endWithBench(child)
    const url = await Promise.race([addressOf(child), delay(startTimeoutMs, undefined, { ref: false })])
    if (url !== undefined) return new Program(folder, url, child)
    child.kill('SIGKILL')
    throw new Error(`did not start: ${command(folder).join(' ')}\n${readFileSync(errorFile(folder), 'utf8')}`)
  }

  private constructor(folder: string, url: string, child: ChildProcess) {
    this.folder = folder
    this.url = url
    this.#child = child
    child.on('exit', (code, signal) => {
      if (this.#isToEnd) return
      const reason = `${child.spawnargs.join(' ')} ended by itself (${signal ?? code})`
      console.error(`${reason}\n${readFileSync(errorFile(folder), 'utf8')}`)
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  get port(): number {
    return Number(new URL(this.url).port)
  }

  /** Ends the program as an operator would; its folder stays until it is disposed of. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#isToEnd = true
    const ended = once(this.#child, 'exit', { signal: AbortSignal.timeout(STOP_TIMEOUT_MS) })
    this.#child.kill('SIGTERM')
    await ended.catch(() => this.#child.kill('SIGKILL'))
  }

  /** kill -9. Resolves when it is gone. */
  async kill(): Promise<void> {
    this.#isToEnd = true
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    rmSync(this.folder, { recursive: true, force: true })
    folders.delete(this.folder)
  }
}

function errorFile(folder: string): string {
  return path.join(folder, 'stderr.txt')
}

async function addressOf(child: ChildProcess): Promise<string | undefined> {
  let text = ''
  for await (const chunk of child.stdout!.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += chunk
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0]
    if (url === undefined) continue
    child.stdout!.resume()
    return url
  }
  return undefined
}
