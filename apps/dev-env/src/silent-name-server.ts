import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** Takes every question and answers none. */
const SILENCE = `
const socket = require('node:dgram').createSocket('udp4')
let questions = 0
socket.on('message', () => process.stdout.write((++questions) + '\\n'))
socket.bind(53, process.argv[1], () => process.stdout.write('0\\n'))
process.on('disconnect', () => process.exit())
`

/** A name server in a network namespace of its own that never answers, for programs that run under `command`. */
export class SilentNameServer implements Disposable {
  /** Put before the words of a program: for it alone, this is the name server of the system. Same process id. */
  readonly command: readonly string[]
  /** How many questions have come. */
  questions = 0
  readonly #namespace: string
  readonly #folder: string
  readonly #server: ChildProcess

  /** @returns why there can be none on this machine. */
  static obstacle(): string | undefined {
    if (process.platform !== 'linux' || process.getuid?.() !== 0)
      return 'only root on Linux can make network namespaces'
    const isThere = spawnSync('ip', ['-V']).status === 0
    return isThere ? undefined : 'ip is not installed (Debian package iproute2)'
  }

  /** Resolves once it takes questions. */
  static async start(): Promise<SilentNameServer> {
    const server = new SilentNameServer()
    await server.#ready()
    return server
  }

  private constructor() {
    // Of 10.213.0.0/16 a /30 that this process is not likely to share with another one.
    const net = `10.213.${(process.pid >> 6) & 255}.${(process.pid & 63) * 4}`
    const [outside, inside] = [1, 2].map((host) => net.replace(/\d+$/, (last) => `${Number(last) + host}`))
    this.#namespace = `millrace-${process.pid}`
    const device = `mr${process.pid}`
    ip('netns', 'add', this.#namespace)
    ip('link', 'add', device, 'type', 'veth', 'peer', 'name', 'inside', 'netns', this.#namespace)
    ip('addr', 'add', `${outside}/30`, 'dev', device)
    ip('link', 'set', device, 'up')
    ip('-n', this.#namespace, 'addr', 'add', `${inside}/30`, 'dev', 'inside')
    ip('-n', this.#namespace, 'link', 'set', 'inside', 'up')
    this.#folder = mkdtempSync(path.join(tmpdir(), 'millrace-names-'))
    const resolvConf = path.join(this.#folder, 'resolv.conf')
    writeFileSync(resolvConf, `nameserver ${inside}\n`)
    this.command = ['unshare', '--mount', 'sh', '-c', 'mount --bind "$0" /etc/resolv.conf && exec "$@"', resolvConf]
    const words = ['netns', 'exec', this.#namespace, process.execPath, '-e', SILENCE, inside!]
    this.#server = spawn('ip', words, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  }

  [Symbol.dispose](): void {
    this.#server.kill('SIGKILL')
    // Its device, and the other end of that, go with it.
    ip('netns', 'del', this.#namespace)
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #ready(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#server.stdout!.on('data', (lines: Buffer) => {
      this.questions = Number(lines.toString().trimEnd().split('\n').at(-1))
      resolve()
    })
    this.#server.once('exit', (code) => reject(new Error(`the name server ended with ${code}`)))
    return promise
  }
}

function ip(...words: string[]): void {
  execFileSync('ip', words, { stdio: ['ignore', 'ignore', 'inherit'] })
}
