/** How much the SDK prints to the console. */
export interface LogLevels {
  readonly NONE: 0
  readonly None: 0
  readonly ERROR: 1
  readonly WARN: 2
  readonly INFO: 3
  readonly DEBUG: 4
  readonly VERBOSE: 5
}

export type LogLevel = 0 | 1 | 2 | 3 | 4 | 5
export declare const LogLevel: LogLevels

/** The second argument of `initialize`. Names are matched without letter case. */
export interface Configuration {
  /** Default None. */
  logLevel?: LogLevel | keyof LogLevels | Lowercase<keyof LogLevels>
  /** Where events are sent. Without it they are stored and not sent. */
  dataPlaneUrl?: string
  /** Events per batch request, 1 to 1,000. Default 30. */
  flushQueueSize?: number
  /** Events kept on the device, 1 to 100,000; beyond it the oldest are deleted. Default 10,000. */
  dbThresholdCount?: number
  /** Another name of dbThresholdCount. */
  dbCountThreshold?: number
  /** Seconds before a partial batch is sent, 1 to 3,600. Default 10. */
  sleepTimeout?: number
  /** Hours after which the configuration of the source is fetched again, 1 to 24. Default 2. */
  configRefreshInterval?: number
  /** Default false. */
  autoCollectAdvertId?: boolean
  /** Default true. */
  trackLifecycleEvents?: boolean
  /** A screen event for each route change. Default false. */
  recordScreenViews?: boolean
  /** Where the configuration of the source is fetched. Default: dataPlaneUrl. */
  controlPlaneUrl?: string
  /** Default true. */
  gzip?: boolean
  /** Default true. */
  autoSessionTracking?: boolean
  /** Seconds without an event that end a session, 1 to 86,400. Default 300. */
  sessionTimeout?: number
  /** Hold everything until `optOut(false)` was called once. Default false. */
  requireConsent?: boolean
  /** What optOut(true) does to stored events. Default keep. */
  optOutQueue?: 'keep' | 'purge'
  /** Default false. */
  collectDeviceId?: boolean
  /** Facts of the app where no native part knows them: in a browser. */
  app?: { name?: string; version?: string; build?: string | number; namespace?: string }
  /** Names an automatic screen; null skips it. */
  screenNameOf?: (path: string) => string | null
  /** Accepted, not used yet. */
  factories?: DestinationFactory[]
}

/** The last argument of every event call and of `initialize`. */
export interface Options {
  /** Destination display name, or All, to whether the event is sent to it. */
  integrations?: Record<string, boolean | Record<string, unknown>>
  /** External id type to id. All those of an event hold at most 4,096 bytes; the ids of a call that exceed this are ignored. */
  externalIds?: Record<string, string | number>
}

export type CallStatus = 'stored' | 'memory' | 'deferred' | 'dropped'
export type DropReason =
  | 'INVALID_ARGUMENT'
  | 'TOO_LARGE'
  | 'OPTED_OUT'
  | 'SOURCE_DISABLED'
  | 'BUFFER_FULL'
  | 'QUEUE_FULL'
export type Tracking = 'enabled' | 'disabled' | 'awaiting-consent'
export type StorageCode =
  | 'STORAGE_OPEN'
  | 'STORAGE_READONLY'
  | 'STORAGE_FULL'
  | 'STORAGE_BUSY'
  | 'STORAGE_CORRUPT'
  | 'STORAGE_NEWER'
  | 'STORAGE_IO'
  | 'STORAGE_LOST'
export type FlushReason =
  | 'NOT_INITIALIZED'
  | 'OPTED_OUT'
  | 'AWAITING_CONSENT'
  | 'OFFLINE'
  | 'RETRY_LATER'
  | 'KEY_REJECTED'
  | 'SOURCE_DISABLED'
  | 'NOT_FOUND'
  | 'WRONG_ADDRESS'
  | 'CSP_BLOCKED'
  | 'NO_DATA_PLANE_URL'
export type InitErrorCode =
  | 'INVALID_WRITE_KEY'
  | 'INVALID_DATA_PLANE_URL'
  | 'ALREADY_INITIALIZED'
  | 'DEVICE_NOT_READY'
  | 'INTERNAL'

/** stored: on disk; memory: lost with the process; deferred: held until ready or allowed; dropped: not recorded. */
export interface CallResult {
  status: CallStatus
  /** Of event calls. */
  messageId?: string
  /** With dropped. */
  reason?: DropReason
}

export interface InitResult {
  storage: 'sqlite' | 'indexeddb' | 'memory'
  tracking: Tracking
  warnings: string[]
}

export interface FlushResult {
  /** Every event queued at the call was answered 2xx. */
  ok: boolean
  sent: number
  remaining: number
  reason?: FlushReason
}

export interface ServiceClientError extends Error {
  code: InitErrorCode
}

/** Counters are since install. */
export interface Status {
  state: 'idle' | 'initializing' | 'ready' | 'failed'
  storage?: 'sqlite' | 'indexeddb' | 'memory'
  tracking: Tracking
  queued: number
  sending: 'idle' | 'active' | 'waiting' | 'stopped'
  /** at: ISO time. */
  lastError?: { code: FlushReason | StorageCode | 'INTERNAL'; at: string; detail: string }
  dropped: { trimmed: number; tooLarge: number; refused: number; invalid: number; buffer: number; purged: number }
  config: { source: 'none' | 'cache' | 'network'; at?: string }
  sdkVersion: string
}

/** An event as a device destination will be given it. */
export interface ClientEvent {
  messageId: string
  originalTimestamp: string
  type: 'identify' | 'track' | 'group' | 'screen' | 'alias'
  channel: 'mobile' | 'web'
  anonymousId: string
  userId?: string
  event?: string
  name?: string
  properties?: Record<string, unknown>
  groupId?: string
  traits?: Record<string, unknown>
  previousId?: string
  integrations: Record<string, unknown>
  context: Record<string, unknown>
}

export type DestinationMethod = (event: ClientEvent) => void | Promise<void>

export interface DestinationFactory {
  /** Display name of the destination definition. */
  readonly name: string
  setup?(): void | Promise<void>
  create(
    config: Readonly<Record<string, unknown>>,
    info: { logLevel: number; sdkVersion: string },
  ): DeviceDestination | Promise<DeviceDestination>
}

export interface DeviceDestination {
  identify?: DestinationMethod
  track?: DestinationMethod
  screen?: DestinationMethod
  group?: DestinationMethod
  alias?: DestinationMethod
  reset?(): void | Promise<void>
  flush?(): void | Promise<void>
}

type Members = Record<string, unknown>

export interface ServiceClientMethods {
  readonly LogLevel: LogLevels
  /** Call it with await, once the device is ready. Rejects with a ServiceClientError; every other promise resolves. */
  initialize(writeKey: string, configuration?: Configuration | null, options?: Options): Promise<InitResult>
  identify(userId: string | number, traits?: Members | Options | null, options?: Options | null): Promise<CallResult>
  track(name: string | number, properties?: Members | Options | null, options?: Options | null): Promise<CallResult>
  group(groupId: string | number, traits?: Members | Options | null, options?: Options | null): Promise<CallResult>
  screen(name: string | number, properties?: Members | Options | null, options?: Options | null): Promise<CallResult>
  alias(newId: string | number, options?: Options | null): Promise<CallResult>
  /** true also renews the anonymousId and clears the push token. */
  reset(renewAnonymousId?: boolean): Promise<CallResult>
  /** true disables tracking, false enables it; it persists. */
  optOut(isOptOut: boolean): Promise<CallResult>
  putAnonymousId(id: string | number): Promise<CallResult>
  /** '' removes it. */
  putAdvertisingId(id: string): Promise<CallResult>
  /** '' removes it. */
  putDeviceToken(token: string): Promise<CallResult>
  /** Sends everything that is queued now. */
  flush(): Promise<FlushResult>
  getStatus(): Promise<Status>
  /** @deprecated putAnonymousId */
  setAnonymousId(id: string | number): Promise<CallResult>
  /** @deprecated putAdvertisingId */
  setAdvertisingId(id: string): Promise<CallResult>
}

export declare const ServiceClient: ServiceClientMethods

declare global {
  // biome-ignore lint/suspicious/noRedeclare: plugin.xml makes a global of the same name
  const ServiceClient: ServiceClientMethods
}
