import type { StoredEvent } from '@millrace/protocol'

/** Result of user code for an event. @see contracts/transformations.md §2 */
export type Transformed =
  | {
      readonly kind: 'events'
      /** The events to send, as user code returned them: any member may be missing. */
      readonly events: readonly StoredEvent[]
      /** Their estimated memory. */
      readonly sizeBytes: number
      /** Credentials that user code has read; they are masked in everything that shows these events. */
      readonly secrets: readonly string[]
    }
  | { readonly kind: 'dropped' }
  | { readonly kind: 'failed'; readonly error: string }
