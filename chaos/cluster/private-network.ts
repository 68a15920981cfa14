import { execFileSync, spawnSync } from 'node:child_process'

/** What a process can be cut off from. */
export type Service = 'kafka' | 'postgres'

/** Addresses between the services and the namespaces stay free. */
const FIRST_CABLE = 16
const CABLE_SIZE = 4

const open = new Set<PrivateNetwork>()
// However a run ends.
process.on('exit', () => {
  for (const network of open) network[Symbol.dispose]()
})

/**
 * Addresses of this machine that processes in a network namespace reach too. Such a process has one cable to this machine, and
 * a second one to the service that it can be cut off from.
 */
export class PrivateNetwork implements Disposable {
  readonly kafka: string
  readonly postgres: string
  readonly webhooks: string
  readonly #net: string
  readonly #namespaces: NetworkNamespace[] = []
  #cables = 0

  /** @returns why there can be none on this machine. */
  static obstacle(): string | undefined {
    if (process.platform !== 'linux' || process.getuid?.() !== 0)
      return 'only root on Linux can make network namespaces'
    const name = `millrace-${process.pid}-try`
    if (spawnSync('ip', ['netns', 'add', name]).status !== 0) return 'this machine allows no network namespaces'
    ip('netns', 'delete', name)
    return undefined
  }

  constructor() {
    // A /24 that this process is not likely to share with another one.
    this.#net = `10.${100 + ((process.pid >> 8) % 90)}.${process.pid & 255}`
    const [kafka, postgres, webhooks] = [1, 2, 3].map((host) => `${this.#net}.${host}`)
    this.kafka = kafka!
    this.postgres = postgres!
    this.webhooks = webhooks!
    for (const address of this.#services) ip('addr', 'add', `${address}/32`, 'dev', 'lo')
    open.add(this)
  }

  /** For a process that can be cut off from one of the services, and from nothing else. */
  namespace(cutOffFrom: Service): NetworkNamespace {
    const name = `millrace-${process.pid}-${this.#namespaces.length}`
    ip('netns', 'add', name)
    ip('-n', name, 'link', 'set', 'lo', 'up')
    const main = this.#cable(name)
    const second = this.#cable(name)
    for (const address of this.#services) {
      const { outside } = address === this[cutOffFrom] ? second : main
      ip('-n', name, 'route', 'add', `${address}/32`, 'via', outside)
    }
    const made = new NetworkNamespace(name, main.inside, second.device)
    this.#namespaces.push(made)
    return made
  }

  [Symbol.dispose](): void {
    open.delete(this)
    for (const namespace of this.#namespaces.splice(0)) namespace[Symbol.dispose]()
    for (const address of this.#services) spawnSync('ip', ['addr', 'del', `${address}/32`, 'dev', 'lo'])
  }

  get #services(): readonly string[] {
    return [this.kafka, this.postgres, this.webhooks]
  }

  #cable(namespace: string): { device: string; outside: string; inside: string } {
    const number = this.#cables++
    const [outside, inside] = [1, 2].map((host) => `${this.#net}.${FIRST_CABLE + CABLE_SIZE * number + host}`)
    const device = `mr${process.pid}c${number}`
    ip('link', 'add', device, 'type', 'veth', 'peer', 'name', `inside${number}`, 'netns', namespace)
    ip('addr', 'add', `${outside}/30`, 'dev', device)
    ip('link', 'set', device, 'up')
    ip('-n', namespace, 'addr', 'add', `${inside}/30`, 'dev', `inside${number}`)
    ip('-n', namespace, 'link', 'set', `inside${number}`, 'up')
    return { device, outside: outside!, inside: inside! }
  }
}

/** Where one process runs. While it is cut off, its packets to the service vanish: nothing is refused or reset. */
export class NetworkNamespace implements Disposable {
  /** Of the process in it, for this machine. */
  readonly address: string
  /** Put before the words of a program. Same process id. */
  readonly command: readonly string[]
  readonly #name: string
  readonly #device: string

  constructor(name: string, address: string, device: string) {
    this.#name = name
    this.address = address
    this.#device = device
    this.command = ['ip', 'netns', 'exec', name]
  }

  cut(): void {
    ip('link', 'set', this.#device, 'down')
  }

  mend(): void {
    ip('link', 'set', this.#device, 'up')
  }

  /** Its cables go with it. */
  [Symbol.dispose](): void {
    spawnSync('ip', ['netns', 'delete', this.#name])
  }
}

function ip(...words: string[]): void {
  execFileSync('ip', words, { stdio: 'pipe' })
}
