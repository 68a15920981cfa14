import type { JsonObject } from '@millrace/protocol'

/*
 * The messages between the server's thread and the worker. Only data that structured clone copies crosses. Every request of a
 * destination is a message to the host, because the worker has no network. A run ends with `done`. What is posted in one turn
 * of an event loop crosses as one list, because waking the other thread costs more than copying the data.
 *
 * @see contracts/destination-catalog.md §4.3
 */

export type ToGuest =
  | GuestRun
  | {
      readonly t: 'answer'
      readonly run: number
      readonly seq: number
      readonly status: number
      readonly statusText: string
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    }
  /** There is no answer. */
  | { readonly t: 'failure'; readonly run: number; readonly seq: number; readonly text: string }
  | { readonly t: 'cancel'; readonly id: number }
  | { readonly t: 'ping' }

export interface GuestRun {
  readonly t: 'run'
  readonly id: number
  /** `transform` answers each request with an empty 200, and sends none. */
  readonly kind: 'transform' | 'deliver' | 'deliverBatch' | 'testConnection' | 'fieldOptions'
  readonly slug: string
  readonly destinationId: string
  readonly settings: JsonObject
  readonly mappings: readonly RunMapping[]
  /** One, but of `deliverBatch` at least two, and none where no event is sent. */
  readonly events: readonly JsonObject[]
  /** Of `fieldOptions`, whose one mapping has the action and the values of its other fields. */
  readonly field?: FieldPage
}

export interface FieldPage {
  readonly name: string
  /** As an earlier answer gave it. */
  readonly page?: string
}

/** Choices that the vendor's API lists for a field. */
export interface FieldOptions {
  readonly choices: readonly { readonly label: string; readonly value: string }[]
  readonly nextPage?: string
}

/** A mapping as the guest needs it: the large default values stay with the definitions there. */
export interface RunMapping {
  readonly index: number
  readonly action: string
  /** What `mapping` is laid over: the default values of the action, those of a preset, or nothing. */
  readonly base: 'default' | 'none' | 'preset'
  readonly preset?: string
  readonly mapping: JsonObject
  readonly syncMode?: string
  readonly matchingKey?: string
}

/** A request as the destination's code made it. */
export interface CapturedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly bodyIsBase64: boolean
  readonly timeoutMs: number
  /** Values that were made of credentials, to be masked. */
  readonly secrets: readonly string[]
}

export type ToHost =
  | { readonly t: 'ready' }
  | { readonly t: 'request'; readonly run: number; readonly seq: number; readonly request: CapturedRequest }
  | { readonly t: 'done'; readonly id: number; readonly ends: readonly MappingEnd[] }
  | { readonly t: 'blocked'; readonly slug: string; readonly what: string }
  | { readonly t: 'pong' }

/** How the code of one mapping ended. */
export interface MappingEnd {
  readonly mapping: number
  /** Of a dry run. */
  readonly requests: readonly CapturedRequest[]
  readonly thrown: Thrown | undefined
  /** Of a batch whose code told a result for each event, in their order. */
  readonly results?: readonly EventEnd[]
  readonly options?: FieldOptions
}

/** What the code says about one event of a batch. */
export type EventEnd =
  | { readonly status: number; readonly text: string; readonly isInvalid: boolean }
  | { readonly thrown: Thrown }

/** What the code threw, by what is to be done about it. */
export type Thrown =
  /** The configuration or the event does not fit; nothing was sent. */
  | { readonly kind: 'validation'; readonly text: string }
  /** An answer outside 2xx that the code did not expect. */
  | { readonly kind: 'answer'; readonly status: number; readonly text: string }
  /** The code's own judgement. */
  | { readonly kind: 'status'; readonly status: number; readonly text: string }
  | { readonly kind: 'retryable'; readonly status: number; readonly text: string }
  | { readonly kind: 'noAnswer'; readonly text: string }
  /** A bound of the run, such as its number of requests. */
  | { readonly kind: 'bound'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
