import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { Broker, jvmArguments } from './broker.ts'
import { freePorts } from './free-ports.ts'
import { kafkaJars, programCache } from './kafka-jars.ts'

export interface KafkaClusterOptions {
  /** One broker, or three. Each takes about 360 MB of memory and six seconds to start. */
  readonly brokers: 1 | 3
  /** Where Kafka's jars are kept between runs. Default `programCache()`. */
  readonly cacheFolder?: string
  /** The data of the brokers, deleted at the end; a new temporary folder if absent. */
  readonly folder?: string
  /** More lines for server.properties. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>
  /** How clients connect; `settings` hold the rest of it. Default PLAINTEXT. */
  readonly protocol?: 'PLAINTEXT' | 'SASL_SSL'
  /** The address that the brokers listen on. Default 127.0.0.1. */
  readonly host?: string
  /** A command that runs a broker, for example in a network namespace. */
  readonly within?: readonly string[]
}

/** Kafka brokers on this machine, for tests and demonstrations: KRaft, each both broker and controller. */
export class KafkaCluster implements AsyncDisposable {
  readonly brokers: readonly Broker[]
  readonly #folder: string

  /** Resolves once every broker's port is open. @throws Error if Kafka cannot be fetched, or a broker does not start. */
  static async start(options: KafkaClusterOptions): Promise<KafkaCluster> {
    const jars = await kafkaJars(options.cacheFolder ?? programCache())
    const folder = options.folder ?? (await mkdtemp(path.join(tmpdir(), 'millrace-kafka-')))
    const host = options.host ?? '127.0.0.1'
    const count = options.brokers * 2
    // In another network namespace every port is free, and this process cannot try them.
    const ports =
      options.within === undefined ? await freePorts(host, count) : Array.from({ length: count }, (_, i) => 9_092 + i)
    const ids = Array.from({ length: options.brokers }, (_, i) => i + 1)
    const nodes = ids.map((id, i) => ({ id, host, port: ports[i * 2]!, controllerPort: ports[i * 2 + 1]! }))
    const clusterId = randomBytes(16).toString('base64url').replace(/^-/, 'A')
    const cluster = new KafkaCluster(
      folder,
      nodes.map(({ id, port }) => {
        const own = path.join(folder, `broker-${id}`)
        return new Broker({ id, host, port, folder: own, jars, within: options.within ?? [] })
      }),
    )
    try {
      await Promise.all(
        nodes.map(async (node) => {
          const own = path.join(folder, `broker-${node.id}`)
          await mkdir(own, { recursive: true })
          const file = path.join(own, 'server.properties')
          await writeFile(file, serverProperties(node, nodes, own, options))
          const format = ['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', file]
          await promisify(execFile)('java', [...jvmArguments(jars), ...format])
        }),
      )
      await Promise.all(cluster.brokers.map((broker) => broker.start()))
    } catch (error) {
      await cluster[Symbol.asyncDispose]()
      throw error
    }
    return cluster
  }

  private constructor(folder: string, brokers: readonly Broker[]) {
    this.#folder = folder
    this.brokers = brokers
  }

  /** `host:port` of each broker. */
  get addresses(): string[] {
    return this.brokers.map(({ address }) => address)
  }

  /** Ends the brokers and deletes their data. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.brokers.map((broker) => broker.kill()))
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

interface Node {
  readonly id: number
  readonly host: string
  readonly port: number
  readonly controllerPort: number
}

function serverProperties(
  { id, host, port, controllerPort }: Node,
  nodes: readonly Node[],
  folder: string,
  { protocol = 'PLAINTEXT', settings = {} }: KafkaClusterOptions,
): string {
  const voters = nodes.map((node) => `${node.id}@${node.host}:${node.controllerPort}`)
  const replicas = nodes.length
  const lines = {
    'process.roles': 'broker,controller',
    'node.id': id,
    'controller.quorum.voters': voters.join(','),
    listeners: `${protocol}://${host}:${port},CONTROLLER://${host}:${controllerPort}`,
    'advertised.listeners': `${protocol}://${host}:${port}`,
    'listener.security.protocol.map': `CONTROLLER:PLAINTEXT,${protocol}:${protocol}`,
    'inter.broker.listener.name': protocol,
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': path.join(folder, 'data'),
    'auto.create.topics.enable': false,
    'num.network.threads': 2,
    'num.io.threads': 4,
    'offsets.topic.num.partitions': 1,
    'offsets.topic.replication.factor': replicas,
    'transaction.state.log.num.partitions': 1,
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': 1,
    'share.coordinator.state.topic.num.partitions': 1,
    'share.coordinator.state.topic.replication.factor': replicas,
    'share.coordinator.state.topic.min.isr': 1,
    ...settings,
  }
  return Object.entries(lines)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}
