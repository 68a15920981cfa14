import { isIP } from 'node:net'
import type { ConnectionOptions as TlsOptions } from 'node:tls'
import { type Clock, ReleasingMap } from '@millrace/std'
import {
  type Broker,
  type Connection,
  ConnectionPool,
  metadataV12,
  ResponseError,
  type SASLOptions,
} from '@platformatic/kafka'
import { causeOf, codeName } from './kafka-errors.ts'

const CONNECT_MS = 3_000
/** Of one request. The client's own limit: ours, which is a little longer, holds even if the client misses it. */
const REQUEST_MS = 5_000
const OWN_MS = CONNECT_MS + REQUEST_MS + 500
/** Where any broker can answer, the next one is asked after this time. */
const ANY_MS = 2_500
const CLIENT_ID = 'millrace'

export interface KafkaAddress {
  /** `host:port` of some brokers; the others are found through them. */
  readonly brokers: readonly string[]
  readonly tls?: TlsOptions
  readonly sasl?: Pick<SASLOptions, 'mechanism'> & { readonly username: string; readonly password: string }
}

/** A request to Kafka was not answered. */
export class KafkaCallError extends Error {
  override name = 'KafkaCallError'
}

interface Api<Args extends unknown[], Answer> {
  readonly async: (connection: Connection, ...args: Args) => Promise<Answer>
}

export interface TopicMetadata {
  /** Of a topic that was deleted and made again it is another one. */
  readonly id: string
  /** By index: undefined while a partition is unknown. */
  readonly partitions: readonly PartitionMetadata[]
}

export interface PartitionMetadata {
  /** Node id; undefined while there is none. */
  readonly leader: number | undefined
  readonly replicas: number
  readonly inSync: number
}

/**
 * Connections to brokers, one for each, and the leaders of partitions. A broker answers the requests of a connection in their
 * order, so a fetch that waits for records has connections of its own.
 *
 * Every call ends: with an answer, with an error, after 8.5 s, or when the connections are ended.
 */
export class KafkaConnections {
  readonly #clock: Clock
  readonly #bootstrap: readonly Broker[]
  readonly #options: ConstructorParameters<typeof ConnectionPool>[1]
  #pool: ConnectionPool
  #nodes = new Map<number, Broker>()
  readonly #topics = new Map<string, TopicMetadata>()
  /** Ends a call that is under way. */
  readonly #open = new ReleasingMap<number, (error: Error) => void>()
  #calls = 0
  /** When a broker last gave no answer, by address; a broker that answers is not in it. */
  readonly #failedAt = new Map<string, number>()
  #isClosed = false

  constructor({ brokers, tls, sasl }: KafkaAddress, clock: Clock) {
    this.#clock = clock
    this.#bootstrap = brokers.map(brokerOf)
    this.#options = {
      connectTimeout: CONNECT_MS,
      requestTimeout: REQUEST_MS,
      // TLS knows no server names that are IP addresses.
      ...(tls === undefined ? {} : { tls, tlsServerName: this.#bootstrap.every(({ host }) => isIP(host) === 0) }),
      ...(sasl === undefined ? {} : { sasl }),
    }
    this.#pool = this.#newPool()
  }

  /** Ids of the brokers that the last `refresh` told of. */
  get nodes(): readonly number[] {
    return [...this.#nodes.keys()]
  }

  topic(name: string): TopicMetadata | undefined {
    return this.#topics.get(name)
  }

  leader(topic: string, index: number): number | undefined {
    return this.#topics.get(topic)?.partitions[index]?.leader
  }

  /**
   * Calls one broker. Codes of errors stand in the answer.
   *
   * @throws KafkaCallError if there is no answer; the request may have been carried out.
   */
  async call<Args extends unknown[], Answer>(node: number, api: Api<Args, Answer>, ...args: Args): Promise<Answer> {
    const broker = this.#nodes.get(node)
    if (broker === undefined) throw new KafkaCallError(`broker ${node} is not known`)
    return this.#ask(broker, OWN_MS, api, args)
  }

  /** Calls the brokers in turn until one answers, those that answered last time first. @throws KafkaCallError if none does. */
  async callAny<Args extends unknown[], Answer>(api: Api<Args, Answer>, ...args: Args): Promise<Answer> {
    const known = [...this.#nodes.values(), ...this.#bootstrap]
    const brokers = [...new Map(known.map((broker) => [addressOf(broker), broker])).values()]
    const failedAt = (broker: Broker) => this.#failedAt.get(addressOf(broker)) ?? Number.NEGATIVE_INFINITY
    const causes = new Set<string>()
    const pool = this.#pool
    for (const broker of brokers.sort((a, b) => failedAt(a) - failedAt(b) || 0)) {
      try {
        return await this.#ask(broker, ANY_MS, api, args)
      } catch (error) {
        causes.add(causeOf(error))
        if (this.#isClosed || this.#pool !== pool) break
      }
    }
    throw new KafkaCallError(`no broker answers: ${[...causes].slice(0, 3).join('; ')}`)
  }

  /** Reads brokers, and the partitions of topics. Topics that do not exist are unknown afterwards. @throws KafkaCallError */
  async refresh(topics: readonly string[]): Promise<void> {
    const answer = await this.callAny(metadataV12.api, [...topics], false, false)
    if (answer.brokers.length > 0) {
      this.#nodes = new Map(answer.brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }]))
    }
    for (const { name, topicId, partitions } of answer.topics) {
      if (name == null) continue
      const found: PartitionMetadata[] = []
      for (const { partitionIndex, leaderId, replicaNodes, isrNodes } of partitions) {
        const leader = leaderId >= 0 ? leaderId : undefined
        found[partitionIndex] = { leader, replicas: replicaNodes.length, inSync: isrNodes.length }
      }
      if (found.length === 0) this.#topics.delete(name)
      else this.#topics.set(name, { id: topicId, partitions: found })
    }
  }

  /** Ends what is under way; the next call connects anew. A request that a socket still holds back is not sent any more. */
  disconnect(): void {
    const pool = this.#pool
    this.#pool = this.#newPool()
    endPool(pool)
    this.#endCalls('the connections to Kafka were ended')
  }

  close(): void {
    this.#isClosed = true
    endPool(this.#pool)
    this.#endCalls('the log is closed')
  }

  async #ask<Args extends unknown[], Answer>(
    broker: Broker,
    withinMs: number,
    api: Api<Args, Answer>,
    args: Args,
  ): Promise<Answer> {
    try {
      const answer = await this.#bounded(() => this.#send(broker, api, args), withinMs)
      this.#failedAt.delete(addressOf(broker))
      return answer
    } catch (error) {
      this.#failedAt.set(addressOf(broker), this.#clock.monotonic())
      throw error
    }
  }

  async #send<Args extends unknown[], Answer>(broker: Broker, api: Api<Args, Answer>, args: Args): Promise<Answer> {
    const connection = await this.#pool.get(broker)
    try {
      return await api.async(connection, ...args)
    } catch (error) {
      // The client throws when one of many items was refused; the callers look at each.
      if (error instanceof ResponseError && 'response' in error) return error.response as Answer
      throw error
    }
  }

  #bounded<Answer>(work: () => Promise<Answer>, withinMs: number): Promise<Answer> {
    if (this.#isClosed) return Promise.reject(new KafkaCallError('the log is closed'))
    return new Promise((resolve, reject) => {
      const number = ++this.#calls
      const end = () => {
        timer.cancel()
        this.#open.take(number)
      }
      const fail = (error: unknown) => {
        end()
        reject(error instanceof KafkaCallError ? error : new KafkaCallError(causeOf(error), { cause: error }))
      }
      const timer = this.#clock.setTimer(() => fail(new Error(`no answer within ${withinMs / 1000} s`)), withinMs)
      this.#open.add(number, fail)
      work().then((answer) => {
        end()
        resolve(answer)
      }, fail)
    })
  }

  #endCalls(cause: string): void {
    for (const fail of this.#open.takeAll()) fail(new KafkaCallError(cause))
  }

  #newPool(): ConnectionPool {
    const pool = new ConnectionPool(CLIENT_ID, this.#options)
    // The pool listens to the first error of a connection only; a second one would end the process.
    pool.on('connecting', ({ connection }: { connection: Connection }) => connection.on('error', () => {}))
    return pool
  }
}

/** An error of an answer in words. */
export function refusal(code: number, message: string | null | undefined): string {
  return message ? `${codeName(code)}: ${message}` : codeName(code)
}

function endPool(pool: ConnectionPool): void {
  for (const [, connection] of [...pool]) {
    // `close` tells everyone who waits; a stopped broker would keep it from ending, so the socket is destroyed as well.
    connection.close().catch(() => {})
    connection.socket?.destroy()
  }
  pool.close().catch(() => {})
}

function addressOf({ host, port }: Broker): string {
  return `${host}:${port}`
}

function brokerOf(address: string): Broker {
  const at = address.lastIndexOf(':')
  const host = address.slice(0, at).replace(/^\[(.*)\]$/, '$1')
  const port = Number(address.slice(at + 1))
  if (at < 1 || !(Number.isInteger(port) && port > 0 && port < 65_536)) {
    throw new Error(`"${address}" is not the address of a broker: write host:port`)
  }
  return { host, port }
}
