import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Environment } from '../../config/environment.ts'
import type { ProcessRole } from '../../config/roles.ts'
import { CommandError } from '../command-io.ts'

const MAIN = fileURLToPath(new URL('../../main.ts', import.meta.url))
/** The first start of a control process builds the dashboard. */
const START_MS = 120_000
const STOP_MS = 30_000
/** Of what a process says, for the error if it does not start. */
const MAX_SAID = 4_000

/** One process of the demonstration. It ends with this process, also if this process is killed. */
export class DemoProcess {
  readonly name: string
  readonly url: string
  readonly #child: ChildProcess
  readonly #exited: Promise<string>

  /** Resolves once it is ready. @throws CommandError with the end of what it said. */
  static start(name: string, role: ProcessRole, env: Environment): Promise<DemoProcess> {
    const child = spawn(process.execPath, [MAIN, 'start', '--roles', role], {
      env: { ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // Ctrl-C reaches this process alone, which ends the others in order.
      detached: true,
    })
    if (child.pid !== undefined) endWithOwner(child.pid)
    return new Promise((resolve, reject) => {
      let said = ''
      const fail = (cause: string) => {
        clearTimeout(timer)
        child.kill('SIGKILL')
        reject(new CommandError(`${name} did not start: ${cause}\n${said.trim()}`))
      }
      const timer = setTimeout(() => fail(`it was not ready after ${START_MS / 1_000} s`), START_MS)
      const exited = new Promise<string>((ended) => {
        child.once('error', (error) => ended(error.message))
        child.once('exit', (code, signal) => ended(`it ended with ${signal ?? `code ${code}`}`))
      })
      void exited.then(fail)
      const hear = (chunk: Buffer) => {
        said = (said + chunk).slice(-MAX_SAID)
        const [, url] = /is ready: (\S+)\n/.exec(said) ?? []
        if (url === undefined) return
        clearTimeout(timer)
        resolve(new DemoProcess(name, url, child, exited))
      }
      child.stdout!.on('data', hear)
      child.stderr!.on('data', hear)
    })
  }

  private constructor(name: string, url: string, child: ChildProcess, exited: Promise<string>) {
    this.name = name
    this.url = url
    this.#child = child
    this.#exited = exited
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Calls back once it has ended, with how. */
  onEnd(listener: (how: string) => void): void {
    void this.#exited.then(listener)
  }

  /** SIGTERM, and after 30 s SIGKILL. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM')
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS)
    await this.#exited
    clearTimeout(timer)
  }
}

function endWithOwner(pid: number): void {
  const script = `while kill -0 ${process.pid} && kill -0 ${pid}; do sleep 1; done; kill ${pid}`
  spawn('sh', ['-c', script], { stdio: 'ignore', detached: true }).unref()
}
