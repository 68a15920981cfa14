/*
 * What the core asks of an engine (Android, iOS, web) and what it is told. BRIDGE.md says the same in prose, with the
 * rules that types cannot hold; conformance/*.json shows the rules at work.
 */

/** @see BRIDGE.md; contracts/cordova-sdk.md §24 */
export interface Bridge {
  /** First of all calls; the engine answers with `{t:'hello'}` at once, before it touches its storage. */
  listen(hear: (signal: Signal) => void, onFailure: (reason: unknown) => void): void
  open(settings: EngineSettings): Promise<Opened>
  push(batch: Push): Promise<Pushed>
  /** inMemory: the next process does not know of them. */
  state(changes: StateChanges): Promise<{ readonly inMemory: boolean }>
  tail(text: string | null): Promise<null>
  drain(how: { readonly force: boolean }): Promise<Drained>
  purge(what: 'events' | 'all'): Promise<null>
  config(known: { readonly etag?: string | undefined }): Promise<ConfigAnswer>
  advertId(): Promise<AdvertisingFacts>
}

/** What every call of `drain`, `config` and the background needs to know; kept by the engine for its background work. */
export interface EngineSettings {
  readonly writeKey: string
  /** Without trailing slash; empty when there is none: nothing is sent then. */
  readonly dataPlaneUrl: string
  readonly controlPlaneUrl: string
  readonly flushQueueSize: number
  readonly dbThresholdCount: number
  readonly gzip: boolean
  /** 0 (none) to 5 (verbose). */
  readonly logLevel: number
  readonly collectDeviceId: boolean
  readonly requireConsent: boolean
  readonly sdkVersion: string
}

export type Tracking = 'enabled' | 'disabled' | 'awaiting-consent'

export type StorageKind = 'sqlite' | 'indexeddb' | 'memory'

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

export interface LastError {
  /** INTERNAL: a mistake of ours, of which the log has a line. */
  readonly code: FlushReason | StorageCode | 'INTERNAL'
  /** ISO time. */
  readonly at: string
  /** At most 200 characters, no key, no payload. */
  readonly detail: string
}

/** How the engine fares; travels with every answer that can change it. */
export interface Report {
  readonly storage: StorageKind
  /** Since install. */
  readonly dropped: { readonly trimmed: number; readonly refused: number; readonly purged: number }
  /** The latest of this process, of storage or of sending. */
  readonly lastError?: LastError | undefined
}

export interface Marker {
  readonly version?: string | undefined
  readonly build?: string | number | undefined
}

export interface Launch {
  readonly foreground: boolean
  /** The engine holds a tail: a page before this one has told that the app was opened, and the app has not left since. */
  readonly opened?: boolean
  /** Of the guard; null when none was ever written. */
  readonly marker: Marker | null
  readonly version?: string | undefined
  readonly build?: string | number | undefined
  readonly url?: string
}

/** Texts, also where they are JSON: an engine never looks into a value that is not its own. */
export type State = Readonly<Record<string, string>>

/** null removes the key. */
export type StateChanges = Readonly<Record<string, string | null>>

/** Members of `context` that the platform knows: app, device, locale, network, os, screen. */
export type ContextFacts = Readonly<Record<string, unknown>>

export interface Opened {
  readonly storage: StorageKind
  readonly tracking: Tracking
  /** Absent while awaiting consent. */
  readonly state?: State | undefined
  readonly launch: Launch
  readonly context: ContextFacts
  /** Rows of all write keys; 0 while awaiting consent. */
  readonly queued: number
  readonly report: Report
}

export interface Push {
  /** In the order of the calls; `body` as in contracts/cordova-sdk.md §6. */
  readonly rows: readonly { readonly body: string }[]
  readonly state: StateChanges
}

export interface Pushed {
  readonly queued: number
  /** True when these rows are held in memory because storage failed. */
  readonly inMemory: boolean
  readonly report: Report
}

/** EMPTY: nothing is left. BUSY: another tab or the background job sends. */
export type DrainOutcome = 'EMPTY' | 'BUSY' | Exclude<FlushReason, 'NOT_INITIALIZED'>

export interface Drained {
  readonly sent: number
  readonly remaining: number
  readonly outcome: DrainOutcome
  /** With OFFLINE, RETRY_LATER and CSP_BLOCKED: when an unforced drain asks the server again. */
  readonly retryAfterMs?: number | undefined
  readonly report: Report
}

export interface ConfigAnswer {
  /** 0: no answer, or one over 1 MiB. */
  readonly status: number
  readonly etag?: string | undefined
  readonly body?: string | undefined
}

export interface AdvertisingFacts {
  readonly id?: string
  readonly enabled?: boolean
  /** iOS: the tracking authorisation status, 0 to 3. */
  readonly att?: number
}

export type Signal =
  | { readonly t: 'hello' }
  | { readonly t: 'start'; readonly url?: string; readonly context?: ContextFacts }
  /** stored: the engine has made a row of the tail. */
  | { readonly t: 'stop'; readonly stored: boolean }
  | { readonly t: 'network'; readonly online: boolean; readonly context?: ContextFacts }
  /** A drain that the engine began by itself. */
  | ({ readonly t: 'drained' } & Drained)
  | { readonly t: 'log'; readonly level: number; readonly text: string }
  /** Another tab, or WebView of the app, changed these values; null: removed. */
  | { readonly t: 'changed'; readonly state: StateChanges }

/** Kept outside the database as well (contracts/cordova-sdk.md §14.4). */
export const GUARDED_KEYS = ['tracking', 'anonymousId', 'marker'] as const

/** What an engine rejects with. */
export interface BridgeFault {
  readonly code: 'UNKNOWN_ACTION' | 'BAD_ARGUMENT' | 'NOT_OPEN' | 'QUEUE_FULL' | 'INTERNAL'
  readonly detail: string
}
