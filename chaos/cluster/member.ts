import { Product, type ProductOptions } from '../product.ts'
import type { NetworkNamespace } from './private-network.ts'

export type Role = 'gateway' | 'pipeline' | 'catalog' | 'control'

/** A process of the cluster. It starts again only when the program has killed it. */
export class Member {
  readonly name: string
  readonly role: Role
  /** Where it runs, if it can be cut off from a service. */
  readonly namespace: NetworkNamespace | undefined
  readonly #options: ProductOptions
  #product: Product | undefined
  #endings = 0
  #isToEnd = false

  constructor(name: string, role: Role, options: ProductOptions, namespace?: NetworkNamespace) {
    this.name = name
    this.role = role
    this.namespace = namespace
    this.#options = options
  }

  /** @throws Error unless it becomes ready. */
  async start(): Promise<void> {
    this.#isToEnd = false
    const product = new Product(this.#options)
    this.#product = product
    void product.exited.then(() => {
      if (!this.#isToEnd) this.#endings++
    })
    await product.ready()
  }

  get product(): Product {
    return this.#product!
  }

  get url(): string {
    return this.product.url
  }

  get isUp(): boolean {
    return this.#product?.isRunning === true && this.#product.url !== ''
  }

  /** How often it has ended without a signal of this program. */
  get endings(): number {
    return this.#endings
  }

  async kill(): Promise<void> {
    this.#isToEnd = true
    await this.product.kill()
  }

  /** SIGTERM. @returns the exit code. */
  stop(): Promise<number | null> {
    this.#isToEnd = true
    return this.product.stop()
  }

  /** A figure of its /metrics; of several lines of one name their sum. */
  async metric(name: string): Promise<number> {
    const { text } = await this.product.answer('GET', '/metrics')
    const lines = text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))
    return [...lines].reduce((sum, [, value]) => sum + Number(value), 0)
  }

  /** What /health says is wrong; undefined: nothing, as far as it can be asked. */
  async trouble(): Promise<string | undefined> {
    try {
      const { status, text } = await this.product.answer('GET', '/health')
      return status === 200 ? undefined : `${status} ${text}`
    } catch (error) {
      return (error as Error).message
    }
  }
}
