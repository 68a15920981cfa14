import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { cpus } from 'node:os'

const BUSY_PROCESSES = 4

/** Whether this system can do it. */
export const canBindProcesses = process.platform === 'linux'

/**
 * Binds the processes of user code that this process has started to one processor, and keeps that busy with other processes.
 * Of it, live code then has about 8 %, code of test runs 3 % and code at penalty 1 %.
 */
export class BusyProcessor implements Disposable {
  readonly #cpu = String(cpus().length - 1)
  readonly #others: ChildProcess[] = []

  constructor() {
    // They end with this process, however that ends.
    const loop = `while kill -0 ${process.pid}; do :; done`
    for (let n = 0; n < BUSY_PROCESSES; n++) {
      this.#others.push(spawn('taskset', ['-c', this.#cpu, 'sh', '-c', loop], { stdio: 'ignore' }))
    }
    for (const pid of userCodeProcesses()) this.#bind(pid)
  }

  #bind(pid: string): void {
    execFileSync('taskset', ['-a', '-c', '-p', this.#cpu, pid], { stdio: 'ignore' })
  }

  [Symbol.dispose](): void {
    for (const other of this.#others) other.kill('SIGKILL')
  }
}

function userCodeProcesses(): string[] {
  const rows = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' }).split('\n')
  return rows.filter((row) => row.includes('guest/main.ts')).map((row) => row.trim().split(' ')[0]!)
}
