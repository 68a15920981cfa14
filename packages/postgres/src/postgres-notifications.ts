import { Client } from 'pg'
import { DEFAULT_TIMEOUTS, type PostgresOptions } from './postgres-pool.ts'
import type { ProcessClock } from './process-clock.ts'

const CHANNEL = 'millrace'
const RECONNECT_MS = 1_000
const KEEP_ALIVE_MS = 5_000

export interface NotificationOptions extends Pick<PostgresOptions, 'url' | 'schema' | 'applicationName'> {
  readonly clock: ProcessClock
}

/**
 * Notifications (LISTEN and NOTIFY) within one schema, on a connection of its own. Only hints: a pooler may lose them,
 * and none arrive while the connection is broken. Every listener therefore also polls; it is called after each
 * reconnection, too.
 *
 * @see contracts/cluster.md §9 [K18]
 */
export class PostgresNotifications implements AsyncDisposable {
  readonly #options: NotificationOptions
  readonly #listeners = new Map<string, Set<() => void>>()
  #client: Client | undefined
  #retry: { cancel(): void } | undefined
  #isClosed = false

  constructor(options: NotificationOptions) {
    this.#options = options
    this.#connect()
  }

  /** @returns a function that removes the listener. */
  on(topic: string, listener: () => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners.add(listener))
    return () => listeners.delete(listener)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#retry?.cancel()
    await this.#client?.end().catch(() => {})
  }

  #connect(): void {
    const { url, applicationName } = this.#options
    const client = new Client({
      connectionString: url,
      application_name: applicationName,
      connectionTimeoutMillis: DEFAULT_TIMEOUTS.connectMs,
      query_timeout: DEFAULT_TIMEOUTS.answerMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    })
    this.#client = client
    let isOver = false
    const again = () => {
      if (isOver) return
      isOver = true
      // A client that failed to listen may still be connected.
      client.end().catch(() => {})
      if (this.#isClosed) return
      this.#retry = this.#options.clock.setTimer(() => this.#connect(), RECONNECT_MS)
    }
    client.on('error', again)
    client.on('end', again)
    client.on('notification', ({ payload = '' }) => this.#notified(payload))
    client
      .connect()
      .then(() => client.query(`LISTEN ${CHANNEL}`))
      .then(() => this.#callAll(), again)
  }

  #notified(payload: string): void {
    for (const [topic, listeners] of this.#listeners) {
      if (payload !== notificationOf(this.#options.schema, topic).payload) continue
      for (const listener of listeners) listener()
    }
  }

  #callAll(): void {
    for (const listeners of this.#listeners.values()) for (const listener of listeners) listener()
  }
}

/** Arguments of `pg_notify`. The channels of a database are common to its schemas, so the payload names the schema. */
export function notificationOf(schema: string, topic: string): { readonly channel: string; readonly payload: string } {
  return { channel: CHANNEL, payload: `${schema} ${topic}` }
}
