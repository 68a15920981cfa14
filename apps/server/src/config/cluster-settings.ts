import type { Environment, WrongSetting } from './environment.ts'
import { PROCESS_ROLES, type ProcessRole } from './roles.ts'
import { number, optionalText, secret, text, trueOrFalse } from './setting.ts'
import { parseLine, showUrl } from './setting-texts.ts'

const MECHANISMS = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'] as const

/** A user of Kafka. */
export interface KafkaUser {
  readonly mechanism: (typeof MECHANISMS)[number]
  readonly username: string
  readonly password: string
}

/** Settings of a cluster, by their member of `Settings`. @see contracts/cluster.md §1 */
export const CLUSTER_SETTINGS = {
  kafkaBrokers: optionalText('MILLRACE_KAFKA_BROKERS', {
    purpose: 'Brokers of the log. With MILLRACE_POSTGRES_URL, this process is part of a cluster.',
    allowed: 'host:port of some brokers, separated by commas',
    parse: parseBrokers,
  }),
  kafkaTls: text('MILLRACE_KAFKA_TLS', 'off', {
    purpose: 'TLS to the brokers.',
    allowed: 'off, on, or the path of a PEM file with the authorities to trust',
    parse: parseLine,
  }),
  kafkaSasl: secret('MILLRACE_KAFKA_SASL', {
    purpose: 'User of the brokers.',
    allowed: `mechanism:user:password; the mechanism is ${MECHANISMS.join(', ')}`,
    parse: parseSasl,
  }),
  kafkaPrefix: text('MILLRACE_KAFKA_PREFIX', 'millrace', {
    purpose: 'Begin of the names of the topics: <prefix>.live and <prefix>.import.',
    allowed: 'up to 200 letters, digits, dots, hyphens and underscores',
    parse: (given) => (/^[A-Za-z0-9._-]{1,200}$/.test(given) ? given : undefined),
  }),
  kafkaCompression: text('MILLRACE_KAFKA_COMPRESSION', 'none', {
    purpose: 'Compression of the records.',
    allowed: 'none or lz4',
    parse: (given) => (given === 'none' || given === 'lz4' ? given : undefined),
  }),
  isKafkaUnsafe: trueOrFalse(
    'MILLRACE_KAFKA_UNSAFE',
    'false',
    'Whether topics are accepted that lose events with one broker.',
  ),
  partitions: number('MILLRACE_PARTITIONS', 32, {
    purpose: 'Partitions of each topic, used once, when the topics are made.',
    from: 1,
    to: 256,
  }),
  postgresUrl: optionalText('MILLRACE_POSTGRES_URL', {
    purpose: 'Database of the cluster: a direct connection, or a pooler in session mode.',
    allowed: 'a URL such as postgres://user:password@host:5432/database',
    parse: parsePostgresUrl,
    show: showUrl,
  }),
  postgresSchema: text('MILLRACE_POSTGRES_SCHEMA', 'millrace', {
    purpose: 'Schema of all tables.',
    allowed: 'up to 63 letters, digits and underscores, not beginning with a digit',
    parse: (given) => (/^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(given) ? given : undefined),
  }),
  postgresPool: number('MILLRACE_POSTGRES_POOL', 8, {
    purpose: 'Maximum number of connections of this process for its work; leases have three more.',
    from: 4,
    to: 200,
  }),
  migrates: text('MILLRACE_MIGRATE', 'auto', {
    purpose: 'Whether a start brings the tables in Postgres up to date; off leaves it to `millrace migrate`.',
    allowed: 'auto or off',
    parse: (given) => (given === 'auto' ? true : given === 'off' ? false : undefined),
  }),
  leaseMs: number('MILLRACE_LEASE_SECONDS', 6, {
    purpose:
      'Time after which other processes take over the shards of a process that gives no sign of life, in seconds.',
    from: 3,
    to: 60,
    factor: 1_000,
  }),
}

/** Those of `millrace migrate`, which needs neither brokers nor secrets. */
export const MIGRATION_SETTINGS = {
  postgresUrl: CLUSTER_SETTINGS.postgresUrl,
  postgresSchema: CLUSTER_SETTINGS.postgresSchema,
}

/** What a cluster cannot do without, and what only a cluster has. */
interface Given {
  readonly kafkaBrokers: readonly string[] | undefined
  readonly postgresUrl: string | undefined
  readonly secretKey: unknown
  readonly serviceAdminPassword: unknown
  readonly ownerToken: unknown
  readonly backlogMaxBytes: number | undefined
  readonly roles: ReadonlySet<ProcessRole>
}

/** What is wrong with the settings of a cluster together, although each may be right alone. */
export function wrongTogether(given: Given, env: Environment): WrongSetting[] {
  const { kafkaBrokers, postgresUrl, roles } = given
  const wrong: WrongSetting[] = []
  const missing = (name: string, allowed: string) => wrong.push({ name, given: 'not set', allowed })
  if (kafkaBrokers !== undefined && postgresUrl === undefined) {
    missing('MILLRACE_POSTGRES_URL', `${URL_RULE}, because MILLRACE_KAFKA_BROKERS is set: a cluster needs both`)
  }
  if (kafkaBrokers === undefined && postgresUrl !== undefined) {
    missing('MILLRACE_KAFKA_BROKERS', `${BROKERS_RULE}, because MILLRACE_POSTGRES_URL is set: a cluster needs both`)
  }
  if (kafkaBrokers === undefined) {
    if (roles.size < PROCESS_ROLES.length) {
      wrong.push({ name: 'MILLRACE_ROLES', given: JSON.stringify(env['MILLRACE_ROLES']), allowed: ONLY_ALL })
    }
    return wrong
  }
  const ofAll = 'the same for all processes: a cluster generates no secret'
  if (given.secretKey === undefined) missing('MILLRACE_SECRET_KEY', `32 bytes as base64, or as 64 hex digits, ${ofAll}`)
  if (given.serviceAdminPassword === undefined) {
    missing('SERVICE_ADMIN_PASSWORD', `at least 12 characters on one line, ${ofAll}`)
  }
  if (given.ownerToken === undefined) {
    missing('MILLRACE_OWNER_TOKEN', `24 to 200 printable characters without spaces or colons, ${ofAll}`)
  }
  if (given.backlogMaxBytes === undefined) {
    missing(
      'MILLRACE_BACKLOG_MAX_MB',
      'a whole number from 0 to 1073741824 (0: no bound), because a cluster has no volume to halve',
    )
  }
  return wrong
}

const { allowed: URL_RULE } = CLUSTER_SETTINGS.postgresUrl
const { allowed: BROKERS_RULE } = CLUSTER_SETTINGS.kafkaBrokers
const ONLY_ALL =
  'all, unless MILLRACE_KAFKA_BROKERS is set: an SQLite database belongs to one process, so one process runs them all'

function parseBrokers(given: string): readonly string[] | undefined {
  const brokers = given.split(',').map((broker) => broker.trim())
  return brokers.every((broker) => /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):\d{1,5}$/.test(broker))
    ? brokers
    : undefined
}

function parsePostgresUrl(given: string): string | undefined {
  const url = URL.parse(given)
  return url !== null && ['postgres:', 'postgresql:'].includes(url.protocol) && url.hostname !== '' ? given : undefined
}

function parseSasl(given: string): KafkaUser | undefined {
  const [, name, username, password] = /^([^:]+):([^:]+):(.+)$/.exec(given) ?? []
  const mechanism = MECHANISMS.find((each) => each === name)
  return mechanism === undefined ? undefined : { mechanism, username: username!, password: password! }
}
