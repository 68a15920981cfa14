import { CLUSTER_SETTINGS, wrongTogether } from './cluster-settings.ts'
import { DESTINATION_CATALOG_SETTINGS } from './destination-catalog-settings.ts'
import { type Environment, SettingsError, type ShownSetting, shownIn, type Values, valuesIn } from './environment.ts'
import { PROCESS_ROLES, parseRoles } from './roles.ts'
import { SCHEMA_SETTINGS } from './schema-settings.ts'
import { KB, MB, number, onOff, optionalNumber, optionalText, secret, text, trueOrFalse } from './setting.ts'
import {
  parseBaseUrl,
  parseEgress,
  parseEmail,
  parseHost,
  parseLine,
  parseNetworks,
  parseOwnerToken,
  parsePassword,
  parseProxy,
  parseSecretKey,
  parseUserName,
  showUrl,
} from './setting-texts.ts'
import { TRANSFORMATION_SETTINGS } from './transformation-settings.ts'

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
  roles: text('MILLRACE_ROLES', 'all', {
    purpose: 'Parts of the product that this process runs.',
    allowed: `all, or in a cluster a list of ${PROCESS_ROLES.join(', ')}, separated by commas`,
    parse: parseRoles,
  }),
  dataDir: text('MILLRACE_DATA_DIR', './data', {
    purpose: 'Data folder.',
    allowed: 'a path',
    parse: parseLine,
  }),
  backupDir: optionalText('MILLRACE_BACKUP_DIR', {
    purpose: 'Folder for backups; default: backups in the data folder.',
    allowed: 'a path',
    parse: parseLine,
  }),
  publicUrl: optionalText('MILLRACE_PUBLIC_URL', {
    purpose: 'URL at which client apps reach the server; default: http://<host>:<port>.',
    allowed: 'an http or https URL without user, query and fragment',
    parse: parseBaseUrl,
    show: showUrl,
  }),
  ownerEmail: optionalText('MILLRACE_OWNER_EMAIL', {
    purpose: 'E-mail address of the owner, set at the first start; default: owner@localhost.',
    allowed: 'an e-mail address',
    parse: parseEmail,
  }),
  ownerToken: secret('MILLRACE_OWNER_TOKEN', {
    purpose: 'Access token of the owner; by default the first start generates one and prints it once.',
    allowed: '24 to 200 printable characters without spaces or colons',
    parse: parseOwnerToken,
  }),
  isDashboardOn: onOff('MILLRACE_DASHBOARD', 'on', 'Whether the dashboard is served below /ui.'),
  isQuickstartOn: onOff(
    'MILLRACE_QUICKSTART',
    'on',
    'Whether the first start creates the Quickstart source and inbox.',
  ),
  egressAllow: optionalText('MILLRACE_EGRESS_ALLOW', {
    purpose: 'Private addresses that destinations may use.',
    allowed: ADDRESS_LIST,
    parse: parseEgress,
  }),
  egressDeny: optionalText('MILLRACE_EGRESS_DENY', {
    purpose: 'Addresses and hosts that are never called; overrides MILLRACE_EGRESS_ALLOW.',
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
    purpose: 'User name of the schema API; default: admin.',
    allowed: 'text on one line without colons',
    parse: parseUserName,
  }),
  serviceAdminPassword: secret('SERVICE_ADMIN_PASSWORD', {
    purpose: 'Password of the schema API; by default the first start generates one and prints it once.',
    allowed: 'at least 12 characters on one line',
    parse: parsePassword,
  }),
  secretKey: secret('MILLRACE_SECRET_KEY', {
    purpose: 'Key that encrypts saved secrets; default: a key file in the data folder.',
    allowed: '32 bytes as base64, or as 64 hex digits',
    parse: parseSecretKey,
  }),
  maxBodyBytes: number('MILLRACE_MAX_BODY_KB', 4_000, {
    purpose: 'Maximum size of a request body, before and after decompression, in KB.',
    from: 1,
    to: 65_536,
    factor: KB,
  }),
  /** 0 means no limit. */
  maxEventBytes: number('MILLRACE_MAX_EVENT_KB', 32, {
    purpose: 'Maximum size of an event, in KB.',
    from: 0,
    to: 65_536,
    factor: KB,
    zero: 'no limit',
  }),
  maxNesting: number('MILLRACE_MAX_NESTING', 200, {
    purpose: 'Maximum nesting of an event, in levels.',
    from: 1,
    to: 1_000,
  }),
  // A backfill may have five times as many, and an event's index in its batch has 16 bits.
  maxBatchEvents: number('MILLRACE_MAX_BATCH_EVENTS', 10_000, {
    purpose: 'Maximum number of events in a batch; /v1/backfill accepts five times as many.',
    from: 1,
    to: 13_107,
  }),
  maxConcurrentRequests: number('MILLRACE_MAX_CONCURRENT_REQUESTS', 10_000, {
    purpose:
      'Maximum number of concurrent ingest requests, a quarter of them per client address; above it the answer is 503.',
    from: 1,
    to: 1_000_000,
  }),
  maxBodyBytesInProgress: number('MILLRACE_MAX_INFLIGHT_MB', 256, {
    purpose: 'Maximum total body size of concurrent requests, in MB; above it the answer is 503.',
    from: 1,
    to: 65_536,
    factor: MB,
  }),
  /** 0 means no floor. */
  minFreeDiskBytes: number('MILLRACE_MIN_FREE_DISK_MB', 512, {
    purpose: 'Minimum free disk space, in MB; below it events are refused.',
    from: 0,
    to: 1_048_576,
    factor: MB,
    zero: 'off',
  }),
  logRetentionMs: number('MILLRACE_LOG_RETENTION_HOURS', 168, {
    purpose: 'Time that events stay in the log after they finish at every destination, in hours.',
    from: 1,
    to: 87_600,
    factor: HOUR_MS,
  }),
  logMaxBytes: optionalNumber('MILLRACE_LOG_MAX_MB', {
    purpose:
      'Maximum size of the log on disk, in MB; above it the oldest segments are deleted early. Default: a quarter of the volume.',
    from: 0,
    to: 1_073_741_824,
    factor: MB,
    zero: 'no bound',
  }),
  deliveryThreads: optionalNumber('MILLRACE_DELIVERY_THREADS', {
    purpose:
      'Threads that deliver; default: one less than there are processors, at most 8. 1: the main thread delivers.',
    from: 1,
    to: 16,
  }),
  deliveryMemoryBytes: number('MILLRACE_DELIVERY_MEMORY_MB', 256, {
    purpose: 'Memory for events in delivery, over all destinations, in MB.',
    from: 1,
    to: 65_536,
    factor: MB,
  }),
  traceMaxBytes: number('MILLRACE_TRACE_MAX_MB', 1_024, {
    purpose: 'Maximum size of traces on disk, in MB.',
    from: 1,
    to: 1_048_576,
    factor: MB,
  }),
  ...TRANSFORMATION_SETTINGS,
  ...DESTINATION_CATALOG_SETTINGS,
  ...SCHEMA_SETTINGS,
  ...CLUSTER_SETTINGS,
  backlogMaxBytes: optionalNumber('MILLRACE_BACKLOG_MAX_MB', {
    purpose:
      'Maximum size of waiting events and open dead letters on disk, in MB. Default: half of the volume; a cluster needs it.',
    from: 0,
    to: 1_073_741_824,
    factor: MB,
    zero: 'no bound',
  }),
  /** 0 means never. */
  uncleanEnds: number('MILLRACE_UNCLEAN_ENDS', 3, {
    purpose: 'Number of unclean ends within 10 minutes after which unfinished events run one at a time.',
    from: 0,
    to: 100,
    zero: 'never',
  }),
  shutdownMs: number('MILLRACE_SHUTDOWN_SECONDS', 10, {
    purpose: 'Time that a shutdown waits for requests and calls in progress, in seconds.',
    from: 0,
    to: 3_600,
    factor: 1_000,
  }),
  /** 0 means no limit. */
  apiRequestsPerMinute: number('MILLRACE_API_RPM', 1_200, {
    purpose: 'Maximum requests to /v2 per minute and token.',
    from: 0,
    to: 1_000_000,
    zero: 'no limit',
  }),
  /** 0 means no limit. */
  testApiRequestsPerMinute: number('MILLRACE_TEST_API_RPM', 3_000, {
    purpose: 'Maximum requests to the Test API and the destination definitions per minute and token.',
    from: 0,
    to: 1_000_000,
    zero: 'no limit',
  }),
  testApiConcurrency: number('MILLRACE_TEST_API_CONCURRENCY', 16, {
    purpose: 'Maximum concurrent Test API requests; more wait up to 10 seconds, then the answer is 503.',
    from: 1,
    to: 1_000,
  }),
  testApiTimeoutMs: number('MILLRACE_TEST_API_TIMEOUT_MS', 60_000, {
    purpose: 'Time limit of a Test API request, in milliseconds.',
    from: 100,
    to: 600_000,
  }),
  areDefinitionsOpen: trueOrFalse(
    'MILLRACE_OPEN_DEFINITIONS',
    'false',
    'Whether GET /destination-definitions answers without credentials.',
  ),
  httpTimeoutMs: number('MILLRACE_HTTP_TIMEOUT_MS', 30_000, {
    purpose: 'Time limit of a call to a destination, including redirects, in milliseconds.',
    from: 100,
    to: 600_000,
  }),
  metricsToken: secret('MILLRACE_METRICS_TOKEN', {
    purpose:
      'Bearer token for /metrics; without it /metrics is open on loopback and requires an admin token elsewhere.',
    allowed: 'printable characters without spaces',
    parse: (given) => (/^[!-~]{1,1000}$/.test(given) ? given : undefined),
  }),
  trustedProxies: text('MILLRACE_TRUSTED_PROXIES', '', {
    purpose: 'Proxies whose X-Forwarded-For is trusted, for limits and the audit log.',
    allowed: 'IP addresses and CIDR ranges, separated by commas',
    parse: parseNetworks,
  }),
  logLevel: text('MILLRACE_LOG_LEVEL', 'info', {
    purpose: 'Log level.',
    allowed: `${LOG_LEVELS.slice(0, -1).join(', ')} or ${LOG_LEVELS.at(-1)}`,
    parse: (given) => LOG_LEVELS.find((level) => level === given),
  }),
}

/** Settings of the commands that call a server. */
const CLIENT = {
  url: optionalText('MILLRACE_URL', {
    purpose: 'URL of the server, for commands; default: the server of MILLRACE_HOST and MILLRACE_PORT on this machine.',
    allowed: 'an http or https URL without user, query and fragment',
    parse: parseBaseUrl,
    show: showUrl,
  }),
  email: optionalText('MILLRACE_EMAIL', {
    purpose: 'E-mail address for commands; optional.',
    allowed: 'an e-mail address',
    parse: parseEmail,
  }),
  token: secret('MILLRACE_TOKEN', {
    purpose: 'Access token for commands; on the server machine, default: the one in the data folder.',
    allowed: 'printable characters without spaces or colons',
    parse: (given) => (/^[!-9;-~]{1,200}$/.test(given) ? given : undefined),
  }),
}

/** The server's settings, in bytes and milliseconds. */
export type Settings = Values<typeof SERVER>
export type ClientSettings = Values<typeof CLIENT> & { readonly url: string }

/**
 * Reads every setting of the server. An empty value counts as not given; an empty secret is an error.
 *
 * @throws SettingsError that lists all wrong ones.
 * @see contracts/decisions.md [D8]
 */
export function loadSettings(env: Environment): Settings {
  const settings = valuesIn(env, SERVER)
  const wrong = wrongTogether(settings, env)
  if (wrong.length > 0) throw new SettingsError(wrong)
  return settings
}

/** Without a URL, commands call the server that the same environment starts. @throws SettingsError */
export function loadClientSettings(env: Environment): ClientSettings {
  const settings = valuesIn(env, CLIENT)
  return { ...settings, url: settings.url ?? urlOfServer(valuesIn(env, { host: SERVER.host, port: SERVER.port })) }
}

/** A server that listens on all addresses is reached over loopback; of port 0 (any free one) only the server knows the number. */
export function urlOfServer({ host, port }: Pick<Settings, 'host' | 'port'>): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port || SERVER.port.defaultText}`
}

export interface ListedSetting extends ShownSetting {
  readonly usedBy: 'server' | 'commands'
}

/** All settings for people, in the order of the table. Wrong ones are shown as they are. */
export function settingsList(env: Environment): ListedSetting[] {
  return [
    ...shownIn(env, SERVER).map((setting) => ({ ...setting, usedBy: 'server' as const })),
    ...shownIn(env, CLIENT).map((setting) => ({ ...setting, usedBy: 'commands' as const })),
  ]
}

/** A process of a cluster does not read these. */
const EMBEDDED_ONLY: ReadonlySet<string> = new Set([
  'MILLRACE_BACKUP_DIR',
  'MILLRACE_QUICKSTART',
  'MILLRACE_LOG_MAX_MB',
  'MILLRACE_DELIVERY_THREADS',
])

/** The effective settings of the server, by name, as GET /v2/admin/info shows them; in a cluster without those of an embedded server. */
export function settingsInForce(env: Environment): Record<string, string | number | null> {
  const shown = shownIn(env, SERVER).map(({ name, value }) => [name, value] as const)
  const isCluster = (env['MILLRACE_KAFKA_BROKERS'] ?? '') !== ''
  return Object.fromEntries(isCluster ? shown.filter(([name]) => !EMBEDDED_ONLY.has(name)) : shown)
}
