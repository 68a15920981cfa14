import type { CallOptions } from './arguments.ts'
import type { JsonObject } from './plain-json.ts'

/** A call of the app that has been read: it can be kept for later, and later changes of its arguments do not reach it. */
export type Call = EventCall | StateCall

export type EventCall = {
  /** When the app made it, ms since 1970. */
  readonly at: number
  readonly options: CallOptions
} & (
  | { readonly kind: 'identify'; readonly userId: string; readonly traits: JsonObject }
  | { readonly kind: 'track'; readonly name: string; readonly properties: JsonObject; readonly origin?: EventOrigin }
  | { readonly kind: 'screen'; readonly name: string; readonly properties: JsonObject }
  | { readonly kind: 'group'; readonly groupId: string; readonly traits: JsonObject }
  | { readonly kind: 'alias'; readonly newId: string }
)

/** `lifecycle` carries the marker that becomes true with it. */
export interface EventOrigin {
  readonly lifecycle: true
  readonly marker: string | undefined
}

export type StateCall =
  | { readonly kind: 'reset'; readonly renews: boolean }
  | { readonly kind: 'anonymousId' | 'advertisingId' | 'deviceToken'; readonly value: string }

export function isEvent(call: Call): call is EventCall {
  return 'options' in call
}

/** Sets a value by itself, such as putAnonymousId. */
export function isPut(call: Call): boolean {
  return 'value' in call
}
