import type { JsonObject } from '../text/plain-json.ts'
import type { CallOptions } from './arguments.ts'

/** A call of the app that has been read: it can be kept for later, and later changes of its arguments do not reach it. */
export type Call = EventCall | StateCall

export interface EventCall {
  readonly kind: 'identify' | 'track' | 'screen' | 'group' | 'alias'
  /** The required argument: a name, or an id. */
  readonly name: string
  /** Traits or properties. */
  readonly payload: JsonObject
  /** When the app made it, ms since 1970. */
  readonly at: number
  readonly callOptions: CallOptions
  /** Of a lifecycle event. */
  readonly origin?: EventOrigin
}

/** Carries the marker that becomes true with it, if one does. */
export interface EventOrigin {
  readonly marker: string | undefined
}

export type StateCall =
  | { readonly kind: 'reset'; readonly renews: boolean }
  | { readonly kind: 'anonymousId' | 'advertisingId' | 'deviceToken'; readonly value: string }

export function isEvent(call: Call): call is EventCall {
  return (call as EventCall).callOptions !== undefined
}

/** Sets a value by itself, such as putAnonymousId. */
export function isPut(call: Call): boolean {
  return 'value' in call
}
