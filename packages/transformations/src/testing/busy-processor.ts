import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpus } from 'node:os'

const MAX_TRIES = 5

/** Whether this system can do it. */
export const canBindProcesses = process.platform === 'linux'

/**
 * Binds the processes of user code that this process has started to one processor, and keeps that busy with other processes.
 * Beside two of them, live code has about 14 % of it, code of test runs 5 % and code at penalty 2 %.
 */
export class BusyProcessor implements Disposable {
  readonly #cpu = cpus().length - 1
  readonly #others: ChildProcess[] = []

  /** @param count of the other processes. */
  constructor(count = 2) {
    // They end with this process, however that ends.
    const loop = `while kill -0 ${process.pid}; do :; done`
    for (let n = 0; n < count; n++) {
      this.#others.push(spawn('taskset', ['-c', String(this.#cpu), 'sh', '-c', loop], { stdio: 'ignore' }))
    }
    bind(String(this.#cpu))
  }

  [Symbol.dispose](): void {
    for (const other of this.#others) other.kill('SIGKILL')
    bind(`0-${this.#cpu}`)
  }
}

/** Binds the processes of user code. */
function bind(cpus: string): void {
  for (let tries = 1; ; tries++) {
    const failed = userCodeProcesses().filter((pid) => spawnSync('taskset', ['-a', '-c', '-p', cpus, pid]).status !== 0)
    if (failed.length === 0) return
    // A thread that ends meanwhile makes it fail.
    if (tries === MAX_TRIES) throw new Error(`processes ${failed.join(', ')} cannot be bound to processors ${cpus}`)
  }
}

function userCodeProcesses(): string[] {
  const rows = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' }).split('\n')
  return rows.filter((row) => row.includes('guest/main.ts')).map((row) => row.trim().split(' ')[0]!)
}
