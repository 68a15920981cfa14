import type { FlushReason, LastError, StorageKind, Tracking } from '../bridge.ts'

/*
 * What the methods of the client answer.
 * @see contracts/cordova-sdk.md §2.1, §2.3; types/index.d.ts says the same to apps.
 */

/** stored: on disk; memory: lost with the process; deferred: held until ready or allowed; dropped: not recorded. */
export type CallStatus = 'stored' | 'memory' | 'deferred' | 'dropped'

export type DropReason =
  | 'INVALID_ARGUMENT'
  | 'TOO_LARGE'
  | 'OPTED_OUT'
  | 'SOURCE_DISABLED'
  | 'BUFFER_FULL'
  | 'QUEUE_FULL'

export interface CallResult {
  readonly status: CallStatus
  readonly messageId?: string
  readonly reason?: DropReason
}

export interface InitResult {
  readonly storage: StorageKind
  readonly tracking: Tracking
  readonly warnings: string[]
}

export interface FlushResult {
  readonly ok: boolean
  readonly sent: number
  readonly remaining: number
  readonly reason?: FlushReason
}

export type InitErrorCode =
  | 'INVALID_WRITE_KEY'
  | 'INVALID_DATA_PLANE_URL'
  | 'ALREADY_INITIALIZED'
  | 'DEVICE_NOT_READY'
  | 'INTERNAL'

export type Sending = 'idle' | 'active' | 'waiting' | 'stopped'

export interface Status {
  readonly state: 'idle' | 'initializing' | 'ready' | 'failed'
  readonly storage?: StorageKind
  readonly tracking: Tracking
  readonly queued: number
  readonly sending: Sending
  readonly lastError?: LastError
  readonly dropped: {
    readonly trimmed: number
    readonly tooLarge: number
    readonly refused: number
    readonly invalid: number
    readonly buffer: number
    readonly purged: number
  }
  readonly config: { readonly source: 'none' | 'cache' | 'network'; readonly at?: string }
  readonly sdkVersion: string
}

export class ServiceClientError extends Error {
  readonly code: InitErrorCode

  constructor(code: InitErrorCode, detail: string) {
    super(`${code}: ${detail}`)
    // A class that is compiled down loses its name when it is minified.
    this.name = 'ServiceClientError'
    this.code = code
  }
}

export async function dropped(reason: DropReason): Promise<CallResult> {
  return { status: 'dropped', reason }
}
