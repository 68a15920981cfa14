import path from 'node:path'
import { settingsOver } from '@millrace/dev-env/cluster-settings'
import { type Broker, KafkaCluster } from '@millrace/log/kafka-brokers'
import { missingForPostgres, PostgresServer } from '@millrace/postgres/local-server'
import { SCHEMA_PASSWORD } from '../product.ts'
import { Member, type Role } from './member.ts'
import { PrivateNetwork, type Service } from './private-network.ts'

export const PARTITIONS = 8

/** The processes, in the order of their start: the first one makes tables and topics. */
const MEMBERS: readonly { readonly name: string; readonly role: Role; readonly cutOffFrom?: Service }[] = [
  { name: 'control 1', role: 'control' },
  { name: 'gateway 1', role: 'gateway' },
  { name: 'gateway 2', role: 'gateway', cutOffFrom: 'kafka' },
  { name: 'pipeline 1', role: 'pipeline' },
  { name: 'pipeline 2', role: 'pipeline', cutOffFrom: 'postgres' },
  { name: 'catalog', role: 'catalog' },
]

export interface ClusterOptions {
  readonly folder: string
  readonly leaseMs: number
  /** Folder of an earlier release that each process with the number 1 runs; without it, all run this one. */
  readonly previous?: string | undefined
}

/** Kafka with one broker, Postgres, and processes of each role. */
export class Cluster implements AsyncDisposable {
  readonly kafka: KafkaCluster
  readonly postgres: PostgresServer
  readonly members: readonly Member[]
  /** Undefined: this machine allows no namespaces, and no process can be cut off. */
  readonly network: PrivateNetwork | undefined
  readonly #opened: AsyncDisposableStack

  /** @returns why this machine cannot run one. */
  static obstacle(): string | undefined {
    return missingForPostgres()
  }

  static async start(options: ClusterOptions): Promise<Cluster> {
    const { folder } = options
    await using opened = new AsyncDisposableStack()
    const network = PrivateNetwork.obstacle() === undefined ? opened.use(new PrivateNetwork()) : undefined
    const ofKafka = { brokers: 1, folder: path.join(folder, 'kafka') } as const
    const kafka = opened.use(
      await KafkaCluster.start(network === undefined ? ofKafka : { ...ofKafka, host: network.kafka }),
    )
    const postgres = opened.use(await PostgresServer.start(undefined, process.pid, undefined, network?.postgres))
    const cluster = new Cluster(opened.move(), options, { kafka, postgres, network })
    try {
      const [first, ...others] = cluster.members
      await first!.start()
      await Promise.all(others.map((each) => each.start()))
    } catch (error) {
      await cluster[Symbol.asyncDispose]()
      throw error
    }
    return cluster
  }

  private constructor(
    opened: AsyncDisposableStack,
    { folder, leaseMs, previous }: ClusterOptions,
    { kafka, postgres, network }: Pick<Cluster, 'kafka' | 'postgres' | 'network'>,
  ) {
    this.#opened = opened
    this.kafka = kafka
    this.postgres = postgres
    this.network = network
    const settings = {
      ...settingsOver(kafka.addresses.join(','), postgres.url),
      SERVICE_ADMIN_PASSWORD: SCHEMA_PASSWORD,
      MILLRACE_PARTITIONS: String(PARTITIONS),
      MILLRACE_LEASE_SECONDS: String(leaseMs / 1_000),
      MILLRACE_BACKLOG_MAX_MB: '0',
      // Its kills are no events that end processes.
      MILLRACE_UNCLEAN_ENDS: '0',
      MILLRACE_LOG_LEVEL: 'warn',
      ...(network === undefined ? {} : { MILLRACE_EGRESS_ALLOW: network.webhooks }),
    }
    this.members = MEMBERS.map(({ name, role, cutOffFrom }) => {
      const namespace = cutOffFrom === undefined ? undefined : network?.namespace(cutOffFrom)
      const host = namespace === undefined ? {} : { MILLRACE_HOST: namespace.address }
      const options = {
        folder: path.join(folder, name.replace(' ', '-')),
        environment: { ...settings, ...host, MILLRACE_ROLES: role },
        through: namespace?.command ?? [],
        ...(previous !== undefined && name.endsWith('1') ? { checkout: previous } : {}),
      }
      return new Member(name, role, options, namespace)
    })
  }

  get broker(): Broker {
    return this.kafka.brokers[0]!
  }

  of(role: Role): readonly Member[] {
    return this.members.filter((member) => member.role === role)
  }

  named(name: string): Member {
    return this.members.find((member) => member.name === name)!
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.members.map((member) => (member.isUp ? member.kill() : undefined)))
    await this.#opened.disposeAsync()
  }
}
