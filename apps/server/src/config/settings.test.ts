import { describe, expect, test } from 'vitest'
import { type Environment, SettingsError } from './environment.ts'
import { loadClientSettings, loadSettings, settingsInForce, settingsList } from './settings.ts'
import { unknownSettings } from './unknown-settings.ts'

const KEY = Uint8Array.from({ length: 32 }, (_, i) => i * 7)

function messageOf(env: Environment): string {
  try {
    loadSettings(env)
  } catch (error) {
    if (error instanceof SettingsError) return error.message
    throw error
  }
  return 'accepted'
}

test('without variables everything has the default of its contract', () => {
  expect(loadSettings({})).toEqual({
    host: '127.0.0.1',
    port: 8080,
    dataDir: './data',
    roles: new Set(['gateway', 'pipeline', 'catalog', 'control']),
    isDashboardOn: true,
    isQuickstartOn: true,
    maxBodyBytes: 4_096_000,
    maxEventBytes: 32_768,
    maxNesting: 200,
    maxBatchEvents: 10_000,
    maxConcurrentRequests: 10_000,
    maxBodyBytesInProgress: 256 * 1024 * 1024,
    minFreeDiskBytes: 512 * 1024 * 1024,
    logRetentionMs: 168 * 3_600_000,
    deliveryMemoryBytes: 256 * 1024 * 1024,
    traceMaxBytes: 1024 * 1024 * 1024,
    transformMemoryMb: 128,
    transformSandboxes: 64,
    transformWorkers: 2,
    transformTotalMb: 512,
    transformSyncMs: 4_000,
    transformWallMs: 30_000,
    isTransformFetchOn: true,
    isDestinationCatalogOn: true,
    destinationCatalogWorkers: 1,
    destinationCatalogMemoryMb: 256,
    schemaSourceBytes: 1024 * 1024 * 1024,
    schemaModels: 2_000,
    schemaVersions: 200,
    schemaKeysPerEvent: 500,
    schemaKeysPerModel: 2_000,
    schemaArrayItems: 20,
    schemaFrequentPer: 100,
    schemaValuesPerKey: 256,
    schemaValuesTotal: 100_000,
    schemaCacheBytes: 64 * 1024 * 1024,
    schemaSamples: 5,
    schemaCapturesUnknowns: false,
    kafkaTls: 'off',
    kafkaPrefix: 'millrace',
    kafkaCompression: 'none',
    isKafkaUnsafe: false,
    partitions: 32,
    postgresSchema: 'millrace',
    postgresPool: 8,
    leaseMs: 6_000,
    migrates: true,
    uncleanEnds: 3,
    shutdownMs: 10_000,
    apiRequestsPerMinute: 1_200,
    testApiRequestsPerMinute: 3_000,
    testApiConcurrency: 16,
    testApiTimeoutMs: 60_000,
    areDefinitionsOpen: false,
    httpTimeoutMs: 30_000,
    trustedProxies: [],
    logLevel: 'info',
  })
  expect(loadClientSettings({})).toEqual({ url: 'http://127.0.0.1:8080' })
})

const PORT = 'a whole number from 0 to 65,535 (0 = any free one)'
const ROLES = 'all, or in a cluster a list of gateway, pipeline, catalog, control, separated by commas'
const ONLY_ALL =
  'all, unless MILLRACE_KAFKA_BROKERS is set: an SQLite database belongs to one process, so one process runs them all'
const BROKERS = 'host:port of some brokers, separated by commas'
const DATABASE = 'a URL such as postgres://user:password@host:5432/database'
const HOST = 'an IP address or a host name, without a port'
const URL_RULE = 'an http or https URL without user, query and fragment'
const TOKEN = '24 to 200 printable characters without spaces or colons'
const KEY_RULE = '32 bytes as base64, or as 64 hex digits'
const EGRESS = 'addresses, CIDR ranges or hosts, each with an optional :port, separated by commas'
const PROXY = 'an http or https URL without a path, such as http://proxy.example:3128'
const NETWORKS = 'IP addresses and CIDR ranges, separated by commas'
const LEVELS = 'fatal, error, warn, info, debug, trace or silent'

test.each<[name: string, given: string, text: string]>([
  ['MILLRACE_ROLES', 'gateway', `"gateway"; allowed: ${ONLY_ALL}`],
  ['MILLRACE_KAFKA_BROKERS', 'kafka-1', `"kafka-1"; allowed: ${BROKERS}`],
  ['MILLRACE_POSTGRES_URL', 'http://u:pw@db/x', `"http://********@db/x"; allowed: ${DATABASE}`],
  [
    'MILLRACE_KAFKA_SASL',
    'GSSAPI:u:p',
    '******** (10 characters); allowed: mechanism:user:password; the mechanism is PLAIN, SCRAM-SHA-256, SCRAM-SHA-512',
  ],
  ['MILLRACE_PARTITIONS', '257', '"257"; allowed: a whole number from 1 to 256'],
  ['MILLRACE_MIGRATE', 'no', '"no"; allowed: auto or off'],
  ['MILLRACE_LEASE_SECONDS', '2', '"2"; allowed: a whole number from 3 to 60'],
  [
    'MILLRACE_ROLES',
    'gateway,pipeline,catalog,control,cook',
    `"gateway,pipeline,catalog,control,cook"; allowed: ${ROLES}`,
  ],
  ['MILLRACE_HOST', 'localhost:8080', `"localhost:8080"; allowed: ${HOST}`],
  ['MILLRACE_HOST', 'http://localhost', `"http://localhost"; allowed: ${HOST}`],
  ['MILLRACE_HOST', '127.0.0.256', `"127.0.0.256"; allowed: ${HOST}`],
  ['MILLRACE_PORT', '80a', `"80a"; allowed: ${PORT}`],
  ['MILLRACE_PORT', '65536', `"65536"; allowed: ${PORT}`],
  ['MILLRACE_PORT', '-1', `"-1"; allowed: ${PORT}`],
  ['MILLRACE_PORT', '8e3', `"8e3"; allowed: ${PORT}`],
  ['MILLRACE_PORT', '0x50', `"0x50"; allowed: ${PORT}`],
  ['MILLRACE_PUBLIC_URL', 'events.example', `"events.example"; allowed: ${URL_RULE}`],
  ['MILLRACE_PUBLIC_URL', 'https://u:pw@events.example', `"https://********@events.example"; allowed: ${URL_RULE}`],
  ['MILLRACE_PUBLIC_URL', 'https://events.example?a=1', `"https://events.example?********"; allowed: ${URL_RULE}`],
  ['MILLRACE_OWNER_EMAIL', 'ada', '"ada"; allowed: an e-mail address'],
  ['MILLRACE_OWNER_TOKEN', 'x'.repeat(23), `******** (23 characters); allowed: ${TOKEN}`],
  ['MILLRACE_OWNER_TOKEN', 'x'.repeat(201), `******** (201 characters); allowed: ${TOKEN}`],
  ['MILLRACE_OWNER_TOKEN', `with a space ${'x'.repeat(24)}`, `******** (37 characters); allowed: ${TOKEN}`],
  ['MILLRACE_OWNER_TOKEN', `with:a:colon:${'x'.repeat(24)}`, `******** (37 characters); allowed: ${TOKEN}`],
  ['MILLRACE_OWNER_TOKEN', '', `set but empty; allowed: ${TOKEN}`],
  ['MILLRACE_QUICKSTART', 'yes', '"yes"; allowed: on or off'],
  ['MILLRACE_EGRESS_ALLOW', '10.0.0.0/33', `"10.0.0.0/33"; allowed: ${EGRESS}`],
  ['MILLRACE_EGRESS_DENY', 'a b', `"a b"; allowed: ${EGRESS}`],
  ['MILLRACE_EGRESS_PROXY', 'socks://u:pw@proxy:1080', `"socks://********@proxy:1080"; allowed: ${PROXY}`],
  ['MILLRACE_EGRESS_PROXY', 'u:pw@proxy:1080', `"********@proxy:1080"; allowed: ${PROXY}`],
  ['SERVICE_ADMIN_USER', 'a:b', '"a:b"; allowed: text on one line without colons'],
  ['SERVICE_ADMIN_PASSWORD', '', 'set but empty; allowed: at least 12 characters on one line'],
  [
    'SERVICE_ADMIN_PASSWORD',
    'two\nlines that are long',
    '******** (23 characters); allowed: at least 12 characters on one line',
  ],
  ['SERVICE_ADMIN_PASSWORD', 'elevenchars', '******** (11 characters); allowed: at least 12 characters on one line'],
  [
    'MILLRACE_OWNER_TOKEN',
    'elevenchars',
    '******** (11 characters); allowed: 24 to 200 printable characters without spaces or colons',
  ],
  ['MILLRACE_SECRET_KEY', 'abcd', `******** (4 characters); allowed: ${KEY_RULE}`],
  ['MILLRACE_MAX_BODY_KB', '0', '"0"; allowed: a whole number from 1 to 65,536'],
  ['MILLRACE_MAX_EVENT_KB', '1.5', '"1.5"; allowed: a whole number from 0 to 65,536 (0 = no limit)'],
  ['MILLRACE_MAX_NESTING', '1001', '"1001"; allowed: a whole number from 1 to 1,000'],
  ['MILLRACE_MAX_BATCH_EVENTS', '13108', '"13108"; allowed: a whole number from 1 to 13,107'],
  ['MILLRACE_MIN_FREE_DISK_MB', '5 GB', '"5 GB"; allowed: a whole number from 0 to 1,048,576 (0 = off)'],
  ['MILLRACE_LOG_RETENTION_HOURS', '0', '"0"; allowed: a whole number from 1 to 87,600'],
  ['MILLRACE_API_RPM', '1,200', '"1,200"; allowed: a whole number from 0 to 1,000,000 (0 = no limit)'],
  ['MILLRACE_METRICS_TOKEN', '', 'set but empty; allowed: printable characters without spaces'],
  ['MILLRACE_TRUSTED_PROXIES', '10.0.0.1, proxy', `"10.0.0.1, proxy"; allowed: ${NETWORKS}`],
  ['MILLRACE_TRUSTED_PROXIES', '::/129', `"::/129"; allowed: ${NETWORKS}`],
  ['MILLRACE_LOG_LEVEL', 'INFO', `"INFO"; allowed: ${LEVELS}`],
])('%s=%j is refused', (name, given, text) => {
  expect(messageOf({ [name]: given })).toBe(`${name} is ${text}`)
})

test('all wrong values are named at once', () => {
  const message = messageOf({ MILLRACE_PORT: 'x', MILLRACE_QUICKSTART: 'x', MILLRACE_HOST: '::1' })
  expect(message.split('\n')).toEqual([expect.stringContaining('PORT'), expect.stringContaining('QUICKSTART')])
})

const CLUSTER = {
  MILLRACE_KAFKA_BROKERS: 'kafka-1:9092, kafka-2:9092',
  MILLRACE_POSTGRES_URL: 'postgres://millrace:secret@db/millrace',
  MILLRACE_SECRET_KEY: '0f'.repeat(32),
  SERVICE_ADMIN_PASSWORD: 'twelve-characters',
  MILLRACE_OWNER_TOKEN: 'owner-0123456789-0123456789',
  MILLRACE_BACKLOG_MAX_MB: '1024',
}

test('a cluster needs Kafka and Postgres together, and the error names both', () => {
  const { MILLRACE_POSTGRES_URL, ...withoutPostgres } = CLUSTER
  const { MILLRACE_KAFKA_BROKERS, ...withoutKafka } = CLUSTER
  expect(messageOf(withoutPostgres)).toBe(
    `MILLRACE_POSTGRES_URL is not set; allowed: ${DATABASE}, because MILLRACE_KAFKA_BROKERS is set: a cluster needs both`,
  )
  expect(messageOf(withoutKafka)).toBe(
    `MILLRACE_KAFKA_BROKERS is not set; allowed: ${BROKERS}, because MILLRACE_POSTGRES_URL is set: a cluster needs both`,
  )
})

test('a cluster generates no secret and has no volume: each must be given', () => {
  const { MILLRACE_KAFKA_BROKERS, MILLRACE_POSTGRES_URL } = CLUSTER
  const message = messageOf({ MILLRACE_KAFKA_BROKERS, MILLRACE_POSTGRES_URL })
  expect(message.split('\n').map((line) => line.split(';')[0])).toEqual([
    'MILLRACE_SECRET_KEY is not set',
    'SERVICE_ADMIN_PASSWORD is not set',
    'MILLRACE_OWNER_TOKEN is not set',
    'MILLRACE_BACKLOG_MAX_MB is not set',
  ])
})

test('in a cluster a process has the roles of its list', () => {
  expect(loadSettings(CLUSTER)).toMatchObject({
    kafkaBrokers: ['kafka-1:9092', 'kafka-2:9092'],
    roles: new Set(['gateway', 'pipeline', 'catalog', 'control']),
  })
  const roles = loadSettings({ ...CLUSTER, MILLRACE_ROLES: 'control, gateway' }).roles
  expect(roles).toEqual(new Set(['gateway', 'control']))
  expect(loadSettings({ ...CLUSTER, MILLRACE_ROLES: 'catalog' }).roles).toEqual(new Set(['catalog']))
})

test.each<[name: string, given: string, member: string, value: unknown]>([
  ['MILLRACE_HOST', '::', 'host', '::'],
  ['MILLRACE_HOST', 'localhost', 'host', 'localhost'],
  ['MILLRACE_PORT', ' 0 ', 'port', 0],
  ['MILLRACE_PORT', '', 'port', 8080],
  ['MILLRACE_PUBLIC_URL', 'https://Events.example/in/', 'publicUrl', 'https://events.example/in'],
  ['MILLRACE_PUBLIC_URL', '', 'publicUrl', undefined],
  ['MILLRACE_OWNER_TOKEN', 'x'.repeat(24), 'ownerToken', 'x'.repeat(24)],
  ['MILLRACE_QUICKSTART', 'off', 'isQuickstartOn', false],
  ['MILLRACE_EGRESS_ALLOW', '10.0.0.0/8, hooks.example:8443', 'egressAllow', '10.0.0.0/8, hooks.example:8443'],
  ['MILLRACE_EGRESS_PROXY', 'http://u:pw@proxy:3128', 'egressProxy', 'http://u:pw@proxy:3128'],
  ['MILLRACE_SECRET_KEY', Buffer.from(KEY).toString('base64'), 'secretKey', KEY],
  ['MILLRACE_SECRET_KEY', Buffer.from(KEY).toString('hex').toUpperCase(), 'secretKey', KEY],
  ['MILLRACE_MAX_EVENT_KB', '0', 'maxEventBytes', 0],
  ['MILLRACE_MAX_BATCH_EVENTS', '13107', 'maxBatchEvents', 13_107],
  ['MILLRACE_TRUSTED_PROXIES', '10.0.0.1, ::1,192.168.0.0/16', 'trustedProxies', ['10.0.0.1', '::1', '192.168.0.0/16']],
])('%s=%j is taken', (name, given, member, value) => {
  expect(loadSettings({ [name]: given })).toHaveProperty(member, value)
})

describe('as people see them', () => {
  const secrets = {
    MILLRACE_OWNER_TOKEN: 'canary-of-the-owner-token-1234',
    SERVICE_ADMIN_PASSWORD: 'canary-of-the-password',
    MILLRACE_SECRET_KEY: 'canary-of-the-key',
    MILLRACE_METRICS_TOKEN: 'canary-of-the-metrics',
    MILLRACE_TOKEN: 'canary-of-the-token',
    MILLRACE_EGRESS_PROXY: 'http://user:canary-of-the-proxy@proxy.example:3128',
    MILLRACE_URL: 'http://user:canary-of-the-url@server.example',
    MILLRACE_POSTGRES_URL: 'postgres://db.example/millrace?user=millrace&p%61ssword=canary-of-the-database',
  }

  test('no secret is shown, right or wrong', () => {
    expect(JSON.stringify([settingsList(secrets), settingsInForce(secrets), messageOf(secrets)])).not.toContain(
      'canary',
    )
  })

  test('/v2/admin/info has each setting of the server by name, in its own unit, secrets masked', () => {
    const shown = settingsInForce({ ...secrets, MILLRACE_MAX_EVENT_KB: '64' })
    expect(shown).toMatchObject({
      MILLRACE_MAX_EVENT_KB: 64,
      MILLRACE_MAX_BODY_KB: 4000,
      MILLRACE_QUICKSTART: 'on',
      MILLRACE_PUBLIC_URL: null,
      SERVICE_ADMIN_PASSWORD: '********',
      MILLRACE_EGRESS_PROXY: 'http://********@proxy.example:3128',
    })
    expect(shown).not.toHaveProperty('MILLRACE_TOKEN')
  })

  test('in a cluster /v2/admin/info leaves out the settings that have no effect there', () => {
    const names = (env: Environment) => Object.keys(settingsInForce(env))
    const left = new Set(names({ MILLRACE_KAFKA_BROKERS: 'kafka-1:9092' }))
    expect(names({}).filter((name) => !left.has(name))).toEqual([
      'MILLRACE_BACKUP_DIR',
      'MILLRACE_QUICKSTART',
      'MILLRACE_LOG_MAX_MB',
      'MILLRACE_DELIVERY_THREADS',
    ])
  })

  test('the list says what is given and what is default, also of wrong values', () => {
    const list = settingsList({ MILLRACE_PORT: 'x' })
    expect(list.find(({ name }) => name === 'MILLRACE_PORT')).toMatchObject({
      value: 'x',
      default: 8080,
      isGiven: true,
    })
    expect(list.filter(({ isGiven }) => isGiven)).toHaveLength(1)
    for (const { name, purpose, allowed } of list) {
      expect(purpose, name).toMatch(/^[A-Z].*\.$/)
      expect(allowed, name).not.toBe('')
    }
  })
})

test.each<[env: Environment, url: string]>([
  [{ MILLRACE_PORT: '9090' }, 'http://127.0.0.1:9090'],
  [{ MILLRACE_HOST: '0.0.0.0' }, 'http://127.0.0.1:8080'],
  [{ MILLRACE_HOST: '::' }, 'http://[::1]:8080'],
  [{ MILLRACE_HOST: 'millrace.example', MILLRACE_PORT: '80' }, 'http://millrace.example:80'],
  [{ MILLRACE_PORT: '0' }, 'http://127.0.0.1:8080'],
  [{ MILLRACE_PORT: 'tcp://10.0.0.7:80', MILLRACE_URL: 'https://millrace.example/' }, 'https://millrace.example'],
])('in the environment %j, commands call %s', (env, url) => {
  expect(loadClientSettings(env).url).toBe(url)
})

test('a variable that is no setting is named, with the one that may have been meant', () => {
  const env = {
    MILLRACE_PROT: '1',
    MILLRACE_MAX_EVENTS_KB: '1',
    MILLRACE_SOMETHING_ELSE: '1',
    HOME: '/',
    MILLRACE_PORT: '1',
  }
  expect(unknownSettings(env)).toEqual([
    'MILLRACE_MAX_EVENTS_KB is not a setting and is ignored; did you mean MILLRACE_MAX_EVENT_KB?',
    'MILLRACE_PROT is not a setting and is ignored; did you mean MILLRACE_PORT?',
    'MILLRACE_SOMETHING_ELSE is not a setting and is ignored',
  ])
})
