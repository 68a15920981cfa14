import type { JsonObject } from '@millrace/protocol'
import type { UnitOutcome } from './classify.ts'
import type { GuestPoolOptions } from './host/guest-pool.ts'
import type { HostAnswer } from './host/guest-runs.ts'
import type { FieldOptions } from './messages.ts'
import type { CapturedObject } from './requests/captured-object.ts'
import type { CatalogRequest, RewriteOptions } from './requests/rewrites.ts'

export interface DestinationCatalogOptions
  extends Omit<GuestPoolOptions, 'packagesFolder' | 'onBlocked' | 'workers' | 'memoryMb'> {
  /** Worker threads, 1 to 8. Default 1. */
  readonly workers?: number
  /** Memory of each, in MB. Default 256. */
  readonly memoryMb?: number
  readonly onBlocked?: (slug: string, what: string) => void
}

/** Whose events are sent, and how its requests name us. */
export interface CatalogRun extends Pick<RewriteOptions, 'userAgent' | 'isUserAgentAdded'> {
  readonly destinationId: string
  readonly config: JsonObject
}

/** What an event becomes. */
export type DryRun =
  | {
      readonly kind: 'requests'
      readonly requests: readonly { readonly object: CapturedObject; readonly request: CatalogRequest }[]
      /** Further requests depend on answers. */
      readonly isPartial: boolean
    }
  | { readonly kind: 'failed'; readonly text: string }

/** A field of an action whose choices are asked for. */
export interface AskedField {
  readonly action: string
  readonly name: string
  /** Values of the mapping's other fields, of which choices may depend. */
  readonly values: JsonObject
  readonly page?: string
}

/** The choices, or how asking for them failed. */
export type FieldOptionsEnd = FieldOptions | UnitOutcome

/** Sends a request. What it answers is given to the destination's code. */
export type SendCaptured = (request: CatalogRequest) => Promise<HostAnswer>
