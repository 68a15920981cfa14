import { execFile, spawn } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { appendFile, chmod, chown, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
const START_ATTEMPTS = 3
const STOP_MS = 20_000
/** Tests kill processes, never the machine, so nothing needs to be synced. */
const TEST_SETTINGS = ['fsync=off', 'shared_buffers=32MB']
const LOOPBACK = '127.0.0.1'

/**
 * A real Postgres server on a free port of this machine, with its files in a temporary folder. It ends with
 * the process `owner`, even if that process is killed.
 */
export class PostgresServer implements AsyncDisposable {
  readonly folder: string
  /** The address that it listens on. */
  readonly host: string
  readonly port: number
  readonly #owner: number
  readonly #settings: readonly string[]

  private constructor(folder: string, host: string, port: number, owner: number, settings: readonly string[]) {
    this.folder = folder
    this.host = host
    this.port = port
    this.#owner = owner
    this.#settings = settings
  }

  /**
   * @param folder where the server puts its files; default: a new temporary folder.
   * @param owner process id; default: this process.
   * @param settings such as `fsync=on`; what they do not name is Postgres's default.
   * @param host another address of this machine than 127.0.0.1; then everybody who reaches it may connect.
   */
  static async start(
    folder?: string,
    owner = process.pid,
    settings = TEST_SETTINGS,
    host = LOOPBACK,
  ): Promise<PostgresServer> {
    const place = folder ?? (await mkdtemp(path.join(os.tmpdir(), 'millrace-postgres-')))
    // initdb refuses to run as root, so the server has another user than these tests.
    if (isRoot()) await chown(place, await idOf('-u'), await idOf('-g'))
    await chmod(place, 0o711)
    const data = path.join(place, 'data')
    await asPostgres([binary('initdb'), '-D', data, '-A', 'trust', '-U', 'postgres', '-N', '-E', 'UTF8', '--no-locale'])
    if (host !== LOOPBACK) await appendFile(path.join(data, 'pg_hba.conf'), 'host all all all trust\n')
    for (let attempt = 1; ; attempt++) {
      const server = new PostgresServer(place, host, await freePort(host), owner, settings)
      try {
        await server.start()
        return server
      } catch (error) {
        // Another process may have taken the port meanwhile.
        if (attempt === START_ATTEMPTS) throw error
      }
    }
  }

  get url(): string {
    return `postgres://postgres@${this.host}:${this.port}/postgres`
  }

  /** Process id of the postmaster. */
  get pid(): number {
    return Number(readFileSync(path.join(this.folder, 'data/postmaster.pid'), 'utf8').split('\n')[0])
  }

  get isRunning(): boolean {
    return existsSync(path.join(this.folder, 'data/postmaster.pid')) && isAlive(this.pid)
  }

  /** Starts the server again after `stop` or `kill`. */
  async start(): Promise<void> {
    // Postgres takes a killed postmaster for a running one until the system has collected its process.
    if (!this.isRunning) await rm(path.join(this.folder, 'data/postmaster.pid'), { force: true })
    const options = [
      `-p ${this.port} -c unix_socket_directories= -c listen_addresses=${this.host} -c max_connections=200`,
      ...this.#settings.map((setting) => `-c ${setting}`),
    ].join(' ')
    const log = path.join(this.folder, 'log')
    const data = path.join(this.folder, 'data')
    try {
      await asPostgres([binary('pg_ctl'), '-D', data, '-w', '-t', '30', '-l', log, '-o', options, 'start'])
    } catch (error) {
      throw new Error(`Postgres did not start: ${readFileSync(log, 'utf8').slice(-2_000)}`, { cause: error })
    }
    this.#endWithOwner()
  }

  /** As an administrator does: open connections are ended. */
  async stop(): Promise<void> {
    await this.#end('SIGINT')
  }

  /** kill -9 of the postmaster and, as its children notice it, of the whole server. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.isRunning) await this.#end('SIGQUIT')
    await rm(this.folder, { recursive: true, force: true })
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const { pid } = this
    const children = await childrenOf(pid)
    process.kill(pid, signal)
    if (signal === 'SIGKILL') for (const child of children) if (isAlive(child)) process.kill(child, signal)
    const deadline = performance.now() + STOP_MS
    while ([pid, ...children].some(isAlive)) {
      if (performance.now() > deadline) throw new Error(`Postgres (process ${pid}) did not end within ${STOP_MS} ms`)
      await delay(20)
    }
  }

  /** A shell that stops this server when the owner is gone. */
  #endWithOwner(): void {
    const script = `while kill -0 ${this.#owner} && kill -0 ${this.pid}; do sleep 1; done; kill -QUIT ${this.pid}`
    spawn('sh', ['-c', script], { stdio: 'ignore', detached: true }).unref()
  }
}

/** What this machine lacks for a server, or undefined. */
export function missingForPostgres(): string | undefined {
  return folders().length === 0 ? 'Postgres 15 or later is not installed (Debian package postgresql-15)' : undefined
}

function binary(name: string): string {
  const [folder] = folders()
  if (folder === undefined) throw new Error(missingForPostgres())
  return path.join(folder, name)
}

/** The binaries of the newest version first. */
function folders(): string[] {
  const version = (folder: string) => Number(/postgresql\/(\d+)\//.exec(folder)?.[1] ?? 0)
  const found = globSync('/usr/lib/postgresql/*/bin').filter((folder) => version(folder) >= 15)
  return found.sort((a, b) => version(b) - version(a))
}

async function asPostgres([command, ...values]: string[]): Promise<void> {
  if (isRoot()) await run('runuser', ['-u', 'postgres', '--', command!, ...values], { cwd: '/' })
  else await run(command!, values)
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

async function idOf(flag: '-u' | '-g'): Promise<number> {
  return Number((await run('id', [flag, 'postgres'])).stdout)
}

async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = await run('ps', ['-o', 'pid=', '--ppid', `${pid}`]).catch(() => ({ stdout: '' }))
  return stdout.split('\n').filter(Boolean).map(Number)
}

/** Whether a process runs; a zombie that its parent did not collect does not. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

async function freePort(host: string): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
