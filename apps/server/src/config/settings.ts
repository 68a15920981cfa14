import { MASK, number, onOff, optionalNumber, optionalText, type Setting, secret, text } from './setting.ts'
import {
  parseBaseUrl,
  parseEgress,
  parseEmail,
  parseHost,
  parseLine,
  parseNetworks,
  parseOwnerToken,
  parseProxy,
  parseSecretKey,
  parseUserName,
  showUrl,
} from './setting-texts.ts'

const KB = 1024
const MB = 1024 * 1024
const HOUR_MS = 3_600_000
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

const ADDRESS_LIST = 'addresses, CIDR ranges or hosts, each with an optional :port, separated by commas'

/** Every setting of the server, by its member of `Settings`. */
const SERVER = {
  host: text('MILLRACE_HOST', '127.0.0.1', {
    purpose: 'Address to listen on; 0.0.0.0 opens the server to the network.',
    allowed: 'an IP address or a host name, without a port',
    parse: parseHost,
  }),
  port: number('MILLRACE_PORT', 8080, { purpose: 'Port to listen on.', from: 0, to: 65_535, zero: 'any free one' }),
  dataDir: text('MILLRACE_DATA_DIR', './data', {
    purpose: 'Folder of everything that is kept.',
    allowed: 'a path',
    parse: parseLine,
  }),
  backupDir: optionalText('MILLRACE_BACKUP_DIR', {
    purpose: 'Folder that backups are written to; without it backups in the data folder.',
    allowed: 'a path',
    parse: parseLine,
  }),
  publicUrl: optionalText('MILLRACE_PUBLIC_URL', {
    purpose: 'Address at which client apps reach the server; without it http://<host>:<port>.',
    allowed: 'an http or https URL without user, query and fragment',
    parse: parseBaseUrl,
    show: showUrl,
  }),
  ownerEmail: optionalText('MILLRACE_OWNER_EMAIL', {
    purpose: 'E-mail address of the owner; owner@localhost unless given at the first start.',
    allowed: 'an e-mail address',
    parse: parseEmail,
  }),
  ownerToken: secret('MILLRACE_OWNER_TOKEN', {
    purpose: 'Access token of the owner; without it the first start makes one and prints it once.',
    allowed: '24 to 200 printable characters without spaces or colons',
    parse: parseOwnerToken,
  }),
  isDashboardOn: onOff('MILLRACE_DASHBOARD', 'on', 'Whether the dashboard is served below /ui.'),
  isQuickstartOn: onOff('MILLRACE_QUICKSTART', 'on', 'Whether a first start makes the Quickstart source and inbox.'),
  egressAllow: optionalText('MILLRACE_EGRESS_ALLOW', {
    purpose: 'Private addresses that destinations may be reached at.',
    allowed: ADDRESS_LIST,
    parse: parseEgress,
  }),
  egressDeny: optionalText('MILLRACE_EGRESS_DENY', {
    purpose: 'Addresses and hosts that are never called; wins over MILLRACE_EGRESS_ALLOW.',
    allowed: ADDRESS_LIST,
    parse: parseEgress,
  }),
  egressProxy: optionalText('MILLRACE_EGRESS_PROXY', {
    purpose: 'Proxy for all calls to destinations.',
    allowed: 'an http or https URL without a path, such as http://proxy.example:3128',
    parse: parseProxy,
    show: showUrl,
  }),
  serviceAdminUser: optionalText('SERVICE_ADMIN_USER', {
    purpose: 'User name of the schema API; admin unless given.',
    allowed: 'text on one line without colons',
    parse: parseUserName,
  }),
  serviceAdminPassword: secret('SERVICE_ADMIN_PASSWORD', {
    purpose: 'Password of the schema API; without it the first start makes one and prints it once.',
    allowed: 'text on one line',
    parse: parseLine,
  }),
  secretKey: secret('MILLRACE_SECRET_KEY', {
    purpose: 'Key that saved secrets are encrypted with; without it a key file in the data folder.',
    allowed: '32 bytes as base64, or as 64 hex digits',
    parse: parseSecretKey,
  }),
  maxBodyBytes: number('MILLRACE_MAX_BODY_KB', 4_000, {
    purpose: 'Largest request body, as sent and again after decoding, in KB.',
    from: 1,
    to: 65_536,
    factor: KB,
  }),
  /** 0 means no limit. */
  maxEventBytes: number('MILLRACE_MAX_EVENT_KB', 32, {
    purpose: 'Largest single event, in KB.',
    from: 0,
    to: 65_536,
    factor: KB,
    zero: 'no limit',
  }),
  maxNesting: number('MILLRACE_MAX_NESTING', 200, {
    purpose: 'Deepest nesting of an event, in levels.',
    from: 1,
    to: 1_000,
  }),
  // An import takes five times as many, and the index of an event in its batch has 16 bits.
  maxBatchEvents: number('MILLRACE_MAX_BATCH_EVENTS', 10_000, {
    purpose: 'Most events in a batch; /v1/import takes five times as many.',
    from: 1,
    to: 13_107,
  }),
  maxConcurrentRequests: number('MILLRACE_MAX_CONCURRENT_REQUESTS', 10_000, {
    purpose: 'Most ingest requests in progress; above, the answer is 503.',
    from: 1,
    to: 1_000_000,
  }),
  maxBodyBytesInProgress: number('MILLRACE_MAX_INFLIGHT_MB', 256, {
    purpose: 'Most body bytes of requests in progress, in MB; above, the answer is 503.',
    from: 1,
    to: 65_536,
    factor: MB,
  }),
  /** 0 means no floor. */
  minFreeDiskBytes: number('MILLRACE_MIN_FREE_DISK_MB', 512, {
    purpose: 'Disk floor: with less free space in the data folder nothing is accepted, in MB.',
    from: 0,
    to: 1_048_576,
    factor: MB,
    zero: 'off',
  }),
  logRetentionMs: number('MILLRACE_LOG_RETENTION_HOURS', 168, {
    purpose: 'How long events stay in the log after they have finished everywhere, in hours.',
    from: 1,
    to: 87_600,
    factor: HOUR_MS,
  }),
  logMaxBytes: optionalNumber('MILLRACE_LOG_MAX_MB', {
    purpose:
      'Most that the log takes on disk before its oldest part leaves early, in MB; without it a quarter of the volume.',
    from: 0,
    to: 1_073_741_824,
    factor: MB,
    zero: 'no bound',
  }),
  deliveryMemoryBytes: number('MILLRACE_DELIVERY_MEMORY_MB', 256, {
    purpose: 'Memory for the events that all destinations hold, in MB.',
    from: 1,
    to: 65_536,
    factor: MB,
  }),
  traceMaxBytes: number('MILLRACE_TRACE_MAX_MB', 1_024, {
    purpose: 'Most that traces take on disk, in MB.',
    from: 1,
    to: 1_048_576,
    factor: MB,
  }),
  transformMemoryMb: number('MILLRACE_TRANSFORM_MEMORY_MB', 128, {
    purpose: 'Most memory of one sandbox of user code, in MB.',
    from: 8,
    to: 4_096,
  }),
  transformSandboxes: number('MILLRACE_TRANSFORM_SANDBOXES', 64, {
    purpose: 'Most sandboxes of user code alive at a time.',
    from: 1,
    to: 10_000,
  }),
  transformWorkers: number('MILLRACE_TRANSFORM_WORKERS', 2, {
    purpose: 'Processes that the user code of live traffic runs in.',
    from: 1,
    to: 64,
  }),
  transformTotalMb: number('MILLRACE_TRANSFORM_TOTAL_MB', 512, {
    purpose: 'Most memory of all sandboxes together, in MB; above, the least recently used is closed.',
    from: 32,
    to: 1_048_576,
  }),
  transformSyncMs: number('MILLRACE_TRANSFORM_SYNC_MS', 4_000, {
    purpose: 'Longest synchronous run of user code, in milliseconds.',
    from: 10,
    to: 600_000,
  }),
  transformWallMs: number('MILLRACE_TRANSFORM_WALL_MS', 30_000, {
    purpose: 'Longest run of user code over a batch, waiting included, in milliseconds.',
    from: 1_000,
    to: 600_000,
  }),
  isTransformFetchOn: onOff(
    'MILLRACE_TRANSFORM_FETCH',
    'on',
    'Whether user code may call addresses over fetch and fetchV2.',
  ),
  schemaSourceBytes: number('MILLRACE_SCHEMA_SOURCE_MB', 1_024, {
    purpose: 'Most that the schema catalog keeps of a source, in MB; beyond it only counts.',
    from: 1,
    to: 1_048_576,
    factor: MB,
  }),
  schemaModels: number('MILLRACE_SCHEMA_MODELS_MAX', 2_000, {
    purpose: 'Most event models of a source; further names count in one.',
    from: 1,
    to: 100_000,
  }),
  schemaVersions: number('MILLRACE_SCHEMA_VERSIONS_MAX', 200, {
    purpose: 'Most versions of an event model; further shapes count in the model only.',
    from: 1,
    to: 10_000,
  }),
  schemaKeysPerEvent: number('MILLRACE_SCHEMA_KEYS_PER_EVENT', 500, {
    purpose: 'Most keys of an event that the schema catalog looks at.',
    from: 1,
    to: 10_000,
  }),
  schemaKeysPerModel: number('MILLRACE_SCHEMA_KEYS_PER_MODEL', 2_000, {
    purpose: 'Most keys of an event model.',
    from: 1,
    to: 20_000,
  }),
  schemaArrayItems: number('MILLRACE_SCHEMA_ARRAY_ITEMS', 20, {
    purpose: 'Elements of an array that give keys.',
    from: 0,
    to: 1_000,
  }),
  schemaFrequentPer: number('MILLRACE_SCHEMA_FREQUENT_PER', 100, {
    purpose: 'A value is frequent when it is one in so many.',
    from: 2,
    to: 100,
  }),
  schemaValuesPerKey: number('MILLRACE_SCHEMA_VALUES_PER_KEY', 256, {
    purpose: 'Counters for the values of a key; at least 2.56 times MILLRACE_SCHEMA_FREQUENT_PER are kept.',
    from: 200,
    to: 100_000,
  }),
  schemaValuesTotal: number('MILLRACE_SCHEMA_VALUES_TOTAL', 100_000, {
    purpose: 'Counters for the values of a version.',
    from: 1_000,
    to: 10_000_000,
  }),
  schemaCacheBytes: number('MILLRACE_SCHEMA_CACHE_MB', 64, {
    purpose: 'Memory of the schema catalog, in MB; the rest is on disk only.',
    from: 1,
    to: 65_536,
    factor: MB,
  }),
  schemaSamples: number('MILLRACE_SCHEMA_SAMPLES', 5, {
    purpose: 'Sampled events of each model and version.',
    from: 0,
    to: 100,
    zero: 'none',
  }),
  schemaCapturesUnknowns: text('MILLRACE_SCHEMA_CAPTURE_UNKNOWNS', 'false', {
    purpose: 'Whether null gives a key, of the type unknown.',
    allowed: 'true or false',
    parse: (given) => (given === 'true' ? true : given === 'false' ? false : undefined),
  }),
  backlogMaxBytes: optionalNumber('MILLRACE_BACKLOG_MAX_MB', {
    purpose: 'Most that waiting events and open dead letters take on disk, in MB; without it half of the volume.',
    from: 0,
    to: 1_073_741_824,
    factor: MB,
    zero: 'no bound',
  }),
  shutdownMs: number('MILLRACE_SHUTDOWN_SECONDS', 10, {
    purpose: 'How long a stop waits for requests and calls in progress, in seconds.',
    from: 0,
    to: 3_600,
    factor: 1_000,
  }),
  /** 0 means no limit. */
  apiRequestsPerMinute: number('MILLRACE_API_RPM', 1_200, {
    purpose: 'Requests to /v2 per minute and token.',
    from: 0,
    to: 1_000_000,
    zero: 'no limit',
  }),
  /** 0 means no limit. */
  testApiRequestsPerMinute: number('MILLRACE_TEST_API_RPM', 3_000, {
    purpose: 'Requests to the Test API and the destination definitions per minute and token.',
    from: 0,
    to: 1_000_000,
    zero: 'no limit',
  }),
  testApiConcurrency: number('MILLRACE_TEST_API_CONCURRENCY', 16, {
    purpose: 'Test API requests that run at a time; more wait up to 10 seconds, then the answer is 503.',
    from: 1,
    to: 1_000,
  }),
  testApiTimeoutMs: number('MILLRACE_TEST_API_TIMEOUT_MS', 60_000, {
    purpose: 'How long a Test API request may take in all, in milliseconds.',
    from: 100,
    to: 600_000,
  }),
  areDefinitionsOpen: text('MILLRACE_OPEN_DEFINITIONS', 'false', {
    purpose: 'Whether GET /destination-definitions answers without credentials.',
    allowed: 'true or false',
    parse: (given) => (given === 'true' ? true : given === 'false' ? false : undefined),
  }),
  httpTimeoutMs: number('MILLRACE_HTTP_TIMEOUT_MS', 30_000, {
    purpose: 'How long one call to a destination may take, redirects included, in milliseconds.',
    from: 100,
    to: 600_000,
  }),
  metricsToken: secret('MILLRACE_METRICS_TOKEN', {
    purpose: 'Bearer token that /metrics asks for; without it /metrics is open.',
    allowed: 'printable characters without spaces',
    parse: (given) => (/^[!-~]{1,1000}$/.test(given) ? given : undefined),
  }),
  trustedProxies: text('MILLRACE_TRUSTED_PROXIES', '', {
    purpose: 'Proxies whose X-Forwarded-For is believed in limits and the audit log.',
    allowed: 'IP addresses and CIDR ranges, separated by commas',
    parse: parseNetworks,
  }),
  logLevel: text('MILLRACE_LOG_LEVEL', 'info', {
    purpose: 'How much is logged.',
    allowed: `${LOG_LEVELS.slice(0, -1).join(', ')} or ${LOG_LEVELS.at(-1)}`,
    parse: (given) => LOG_LEVELS.find((level) => level === given),
  }),
}

/** Of the commands that talk to a server. */
const CLIENT = {
  url: text('MILLRACE_URL', 'http://127.0.0.1:8080', {
    purpose: 'Server that the commands talk to.',
    allowed: 'an http or https URL without user, query and fragment',
    parse: parseBaseUrl,
    show: showUrl,
  }),
  email: optionalText('MILLRACE_EMAIL', {
    purpose: 'E-mail address that the commands sign in with; a token alone is enough.',
    allowed: 'an e-mail address',
    parse: parseEmail,
  }),
  token: secret('MILLRACE_TOKEN', {
    purpose: 'Access token of the commands; on the machine of the server it is found in the data folder.',
    allowed: 'printable characters without spaces or colons',
    parse: (given) => (/^[!-9;-~]{1,200}$/.test(given) ? given : undefined),
  }),
}

type Table = Readonly<Record<string, Setting<unknown>>>
type Values<T extends Table> = { readonly [Member in keyof T]: T[Member] extends Setting<infer Value> ? Value : never }

/** What the server is told by its environment, in bytes and milliseconds. */
export type Settings = Values<typeof SERVER>
export type ClientSettings = Values<typeof CLIENT>

/** Environment variables by name, such as process.env. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads every setting of the server. One that is given empty counts as not given, but for secrets: those are wrong.
 *
 * @throws SettingsError naming all that are wrong.
 * @see contracts/decisions.md D8
 */
export function loadSettings(env: Environment): Settings {
  return load(SERVER, env)
}

/** @throws SettingsError */
export function loadClientSettings(env: Environment): ClientSettings {
  return load(CLIENT, env)
}

export interface ShownSetting {
  readonly name: string
  readonly kind: Setting<unknown>['kind']
  /** In the unit of the variable, masked if it is secret; null: not set. */
  readonly value: string | number | null
  readonly default: string | number | null
  readonly isGiven: boolean
  readonly purpose: string
  readonly allowed: string
  readonly usedBy: 'server' | 'commands'
}

/** All settings as people may see them, in the order of the table. Takes wrong ones as they are. */
export function settingsList(env: Environment): ShownSetting[] {
  return [
    ...Object.values<Setting<unknown>>(SERVER).map((setting) => shown(setting, env, 'server')),
    ...Object.values<Setting<unknown>>(CLIENT).map((setting) => shown(setting, env, 'commands')),
  ]
}

/** The settings of the server in force, by name, as GET /v2/admin/info shows them. */
export function settingsInForce(env: Environment): Record<string, string | number | null> {
  const list = settingsList(env).filter(({ usedBy }) => usedBy === 'server')
  return Object.fromEntries(list.map(({ name, value }) => [name, value]))
}

export interface WrongSetting {
  readonly name: string
  /** Masked if it is secret. */
  readonly given: string
  readonly allowed: string
}

/** Settings that stop the start; the message has a line for each. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  readonly code = 'settings'
  readonly wrong: readonly WrongSetting[]

  constructor(wrong: readonly WrongSetting[]) {
    super(wrong.map(({ name, given, allowed }) => `${name} is ${given}; allowed: ${allowed}`).join('\n'))
    this.wrong = wrong
  }
}

function load<T extends Table>(table: T, env: Environment): Values<T> {
  const values: Record<string, unknown> = {}
  const wrong: WrongSetting[] = []
  for (const [member, setting] of Object.entries(table)) {
    const given = givenText(setting, env)
    const textInForce = given ?? setting.defaultText
    const value = textInForce === undefined ? undefined : setting.parse(textInForce)
    if (value === undefined && given !== undefined) {
      wrong.push({ name: setting.name, given: quoted(setting, given), allowed: setting.allowed })
    }
    values[member] = value
  }
  if (wrong.length > 0) throw new SettingsError(wrong)
  return values as Values<T>
}

/** An empty text mostly stands for "nothing"; an empty secret would quietly leave a door open. */
function givenText({ name, kind }: Setting<unknown>, env: Environment): string | undefined {
  const given = env[name]
  if (kind === 'secret') return given
  const trimmed = given?.trim()
  return trimmed === '' ? undefined : trimmed
}

function quoted({ kind, show }: Setting<unknown>, given: string): string {
  if (given === '') return 'set but empty'
  if (kind === 'secret') return `${MASK} (${given.length} characters)`
  const visible = String(show(given))
  return JSON.stringify(visible.length > 200 ? `${visible.slice(0, 200)}…` : visible)
}

function shown(setting: Setting<unknown>, env: Environment, usedBy: ShownSetting['usedBy']): ShownSetting {
  const { name, kind, defaultText, purpose, allowed, show } = setting
  const given = givenText(setting, env)
  const shownText = (each: string | undefined) => (each === undefined || each === '' ? null : show(each))
  return {
    name,
    kind,
    value: shownText(given ?? defaultText),
    default: shownText(defaultText),
    isGiven: given !== undefined,
    purpose,
    allowed,
    usedBy,
  }
}
