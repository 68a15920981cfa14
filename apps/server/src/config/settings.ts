import { type Environment, type ShownSetting, shownIn, type Values, valuesIn } from './environment.ts'
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
    purpose: 'What this process does of the product.',
    allowed: `all, which is ${PROCESS_ROLES.join(',')}: an SQLite database belongs to one process, so that none can be left out`,
    parse: parseRoles,
  }),
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
    allowed: 'at least 12 characters on one line',
    parse: parsePassword,
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
  // A backfill takes five times as many, and the index of an event in its batch has 16 bits.
  maxBatchEvents: number('MILLRACE_MAX_BATCH_EVENTS', 10_000, {
    purpose: 'Most events in a batch; /v1/backfill takes five times as many.',
    from: 1,
    to: 13_107,
  }),
  maxConcurrentRequests: number('MILLRACE_MAX_CONCURRENT_REQUESTS', 10_000, {
    purpose: 'Most ingest requests in progress, a quarter of them from one address; above, the answer is 503.',
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
  ...TRANSFORMATION_SETTINGS,
  ...SCHEMA_SETTINGS,
  backlogMaxBytes: optionalNumber('MILLRACE_BACKLOG_MAX_MB', {
    purpose: 'Most that waiting events and open dead letters take on disk, in MB; without it half of the volume.',
    from: 0,
    to: 1_073_741_824,
    factor: MB,
    zero: 'no bound',
  }),
  /** 0 means never. */
  uncleanEnds: number('MILLRACE_UNCLEAN_ENDS', 3, {
    purpose: 'After so many ends without a stop within 10 minutes, unfinished events run one at a time.',
    from: 0,
    to: 100,
    zero: 'never',
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
  areDefinitionsOpen: trueOrFalse(
    'MILLRACE_OPEN_DEFINITIONS',
    'false',
    'Whether GET /destination-definitions answers without credentials.',
  ),
  httpTimeoutMs: number('MILLRACE_HTTP_TIMEOUT_MS', 30_000, {
    purpose: 'How long one call to a destination may take, redirects included, in milliseconds.',
    from: 100,
    to: 600_000,
  }),
  metricsToken: secret('MILLRACE_METRICS_TOKEN', {
    purpose:
      'Bearer token that /metrics asks for; without it /metrics is open on loopback and asks for an admin elsewhere.',
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

/** What the server is told by its environment, in bytes and milliseconds. */
export type Settings = Values<typeof SERVER>
export type ClientSettings = Values<typeof CLIENT>

/**
 * Reads every setting of the server. One that is given empty counts as not given, but for secrets: those are wrong.
 *
 * @throws SettingsError naming all that are wrong.
 * @see contracts/decisions.md [D8]
 */
export function loadSettings(env: Environment): Settings {
  return valuesIn(env, SERVER)
}

/** @throws SettingsError */
export function loadClientSettings(env: Environment): ClientSettings {
  return valuesIn(env, CLIENT)
}

export interface ListedSetting extends ShownSetting {
  readonly usedBy: 'server' | 'commands'
}

/** All settings as people may see them, in the order of the table. Takes wrong ones as they are. */
export function settingsList(env: Environment): ListedSetting[] {
  return [
    ...shownIn(env, SERVER).map((setting) => ({ ...setting, usedBy: 'server' as const })),
    ...shownIn(env, CLIENT).map((setting) => ({ ...setting, usedBy: 'commands' as const })),
  ]
}

/** The settings of the server in force, by name, as GET /v2/admin/info shows them. */
export function settingsInForce(env: Environment): Record<string, string | number | null> {
  return Object.fromEntries(shownIn(env, SERVER).map(({ name, value }) => [name, value]))
}
