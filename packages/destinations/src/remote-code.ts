import type { JsonObject, StoredEvent } from '@millrace/protocol'
import type { ConfigFault } from './config/config-fault.ts'
import type { RequestObject } from './requests/request-object.ts'

/**
 * Code of a destination that runs outside of the server's own threads, and needs an answer before it makes its next request.
 * The pipeline runs it instead of `transform`.
 *
 * @see contracts/destination-catalog.md §8, §9
 */
export interface RemoteCode {
  /** Why it cannot run in this installation; undefined if it can. Its events wait, and its configuration cannot be saved. */
  trouble(): string | undefined
  /** Rules for a configuration that its schema cannot tell. */
  faultsIn(config: JsonObject): readonly ConfigFault[]
  /** Actions and presets for the editor of mappings; only the description of this one type shows them, because they are long. */
  mappingEditor(): JsonObject
  /** The parts of an event's delivery, in order. Each is delivered and retried alone. Pure. */
  units(event: StoredEvent, config: JsonObject): readonly RemoteUnit[]
  /** The requests that an event becomes when every answer is an empty 200. Never rejects. */
  transform(event: StoredEvent, run: RemoteRun): Promise<RemoteRequests | { readonly error: string }>
  /**
   * Delivers one unit. Never rejects.
   *
   * @param faults how many earlier attempts of the unit were faults.
   */
  deliver(
    event: StoredEvent,
    unit: RemoteUnit,
    run: RemoteRun,
    send: SendRemote,
    faults: number,
  ): Promise<RemoteOutcome>
  /** Maximum events of one run under a configuration; 1: each event runs alone. */
  maxBatch(config: JsonObject): number
  /** Delivers the same unit of several events in one run. Never rejects. */
  deliverBatch(
    events: readonly StoredEvent[],
    unit: RemoteUnit,
    run: RemoteRun,
    send: SendRemote,
  ): Promise<RemoteBatchOutcome>
  /** Asks the service for the choices of a field; undefined where the field has none. Never rejects. */
  fieldOptions(run: RemoteRun, field: RemoteField, send: SendRemote): Promise<RemoteFieldOptions | undefined>
  /** Tries the credentials; undefined where there is nothing to try with. Never rejects. */
  testConnection(run: RemoteRun, send: SendRemote): Promise<RemoteOutcome | undefined>
}

/** For the code that made it, an opaque part of an event's delivery. */
export interface RemoteUnit {
  /** Position in the configuration; the same for the same configuration. */
  readonly index: number
  readonly name: string
  /** Set where events may share a run: those with the same key, and so many. */
  readonly batch?: { readonly key: string; readonly maxEvents: number }
}

/** A field of a mapping whose choices are asked for. */
export interface RemoteField {
  readonly action: string
  readonly name: string
  /** Values of the other fields. */
  readonly values: JsonObject
  /** As an earlier answer gave it. */
  readonly page?: string
}

export type RemoteFieldOptions =
  | { readonly choices: readonly { readonly label: string; readonly value: string }[]; readonly nextPage?: string }
  | { readonly failed: RemoteOutcome }

export interface RemoteRun {
  readonly destinationId: string
  readonly config: JsonObject
  /** User agent of requests that name none of their own. */
  readonly userAgent: string
  /** Whether `userAgent` is added to another one. */
  readonly isUserAgentAdded: boolean
}

export interface RemoteRequests {
  readonly requests: readonly RequestObject[]
  /** Values made of credentials, to be masked. */
  readonly derivedSecrets: readonly string[]
  /** Further requests depend on answers. */
  readonly isPartial: boolean
  /** Numbers of the rules that changed requests of the code. */
  readonly rules: readonly string[]
}

/** A request as it is sent. */
export interface RemoteRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  readonly object: RequestObject
  readonly timeoutMs: number
  readonly derivedSecrets: readonly string[]
  readonly rules: readonly string[]
}

/** Sends a request; the code gets the answer, or the text that says why there is none. */
export type SendRemote = (request: RemoteRequest) => Promise<RemoteAnswer>

export type RemoteAnswer =
  | {
      readonly status: number
      readonly statusText: string
      readonly headers: Record<string, string>
      readonly body: string
    }
  | { readonly noAnswer: string }

export interface RemoteOutcome {
  readonly kind: 'delivered' | 'retry' | 'abort'
  readonly status: number
  readonly text: string
  readonly stage: 'dest_transformation' | 'delivery'
  readonly isFault?: true
}

/** How a run of several events ended: for each of them, or for all alike. */
export type RemoteBatchOutcome =
  | { readonly each: readonly RemoteOutcome[] }
  /** `mayBeAboutOne`: one event may be at fault, so that the others are to be sent without it. */
  | { readonly all: RemoteOutcome; readonly mayBeAboutOne: boolean }
