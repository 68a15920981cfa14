import type { JsonObject } from '@millrace/protocol'
import type { RequestObject } from './requests/request-object.ts'

/**
 * What a destination makes of one event, as data: it is test, documentation and sample at once. The cases of a type
 * stand beside its code in `<folder>.cases.ts`; every-type.test.ts runs them. Each option of the form is
 * in one that would end another way without it (every-option.test.ts).
 */
export interface DestinationCase {
  /** States the promise; no two cases of a type have the same name. */
  readonly name: string
  /** Shown in `docs/destinations/<folder>.md` under this name, member by member. */
  readonly documented?: true
  readonly config: JsonObject
  /** The configuration is an override of the Test API that cannot be saved. */
  readonly testOnly?: true
  /** ISO 8601; the time of delivery, for a type that asks for it (`refusal`). */
  readonly now?: string
  /** As the log or a user transformation gives it; the latter may have removed anything. */
  readonly event: JsonObject
  /** Further events that travel with it, and the request that then carries all of them. */
  readonly batch?: { readonly events: readonly JsonObject[]; readonly expected: RequestObject }
  readonly expected: { readonly requests: readonly RequestObject[] } | { readonly error: string }
}
