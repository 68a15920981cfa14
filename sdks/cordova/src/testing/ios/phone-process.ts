import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** A line of phone.c. */
export interface Told {
  readonly t: string
  // biome-ignore lint/suspicious/noExplicitAny: what a kind of line holds is known where it is read
  readonly [member: string]: any
}

/** One process of an app on a phone: the C engine under sanitizers (phone.c says what lines it takes and tells). */
export class PhoneProcess {
  private readonly process: ChildProcess
  private readonly ended: Promise<{ code: number | null; signal: string | null }>
  private readonly hear: (told: Told) => void
  private readonly waiting: { done: () => void; failed: (error: Error) => void }[] = []
  private errors = ''
  private isKilled = false

  constructor(program: string, folder: string, hear: (told: Told) => void) {
    this.hear = hear
    this.process = spawn(program, [folder], { stdio: 'pipe', env: { ...process.env, ASAN_OPTIONS: 'detect_leaks=1' } })
    this.ended = new Promise((resolve) => this.process.once('close', (code, signal) => resolve({ code, signal })))
    this.process.stderr!.on('data', (chunk) => {
      this.errors += chunk
    })
    this.process.stdin!.on('error', () => undefined)
    createInterface(this.process.stdout!).on('line', (line) => this.told(JSON.parse(line)))
    void this.ended.then(() => this.failAll())
  }

  /** Resolves once the engine has done what follows from it at once. */
  send(line: object): Promise<void> {
    return new Promise((done, failed) => {
      this.waiting.push({ done, failed })
      this.process.stdin!.write(`${JSON.stringify(line)}\n`)
    })
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    this.isKilled = true
    this.process.kill('SIGKILL')
    await this.ended
  }

  /** Ends in good order. @throws what the sanitizers found, leaks included. */
  async end(): Promise<void> {
    this.process.stdin!.end()
    const { code, signal } = await this.ended
    if (code !== 0 && !this.isKilled) throw new Error(`the process ended with ${code ?? signal}\n${this.errors}`)
  }

  private told(told: Told): void {
    if (told.t === 'done') this.waiting.shift()!.done()
    else this.hear(told)
  }

  private failAll(): void {
    const error = new Error(`the process has ended\n${this.errors}`)
    for (const { failed } of this.waiting.splice(0)) failed(error)
  }
}
