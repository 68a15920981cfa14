import type { OutboundClient, OutboundRequest, OutboundResult } from '@millrace/delivery'

const MAX_IDLE_CLIENTS = 64

/**
 * One outbound client per destination for its user code, so that one destination cannot exhaust the connections or DNS
 * lookups of another. Idle clients are kept for the 64 most recently used destinations.
 */
export class TransformClients {
  readonly #newClient: () => OutboundClient
  /** In order of last use. */
  readonly #clients = new Map<string, { readonly client: OutboundClient; underWay: number }>()

  /** @param newClient creates a client with TRANSFORM_CLIENT_BOUNDS. */
  constructor(newClient: () => OutboundClient) {
    this.#newClient = newClient
  }

  /** @param key of the destination. @returns a function that aborts the call. */
  send(key: string, request: OutboundRequest, onDone: (result: OutboundResult) => void): () => void {
    const used = this.#clients.get(key) ?? { client: this.#newClient(), underWay: 0 }
    this.#clients.delete(key)
    this.#clients.set(key, used)
    used.underWay++
    const call = used.client.send(request, (result) => {
      used.underWay--
      this.#closeIdle()
      onDone(result)
    })
    return () => call.abort()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map(({ client }) => client.close()))
  }

  #closeIdle(): void {
    for (const [key, { client, underWay }] of this.#clients) {
      if (this.#clients.size <= MAX_IDLE_CLIENTS) return
      if (underWay > 0) continue
      this.#clients.delete(key)
      void client.close()
    }
  }
}
