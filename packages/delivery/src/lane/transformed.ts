import type { StoredEvent } from '@millrace/protocol'
import type { LaneEvent } from './lane-event.ts'

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

/** Runs user code on loaded events. @returns a result per event, in the same order; never rejects. */
export type Transform = (events: readonly LaneEvent[]) => Promise<readonly Transformed[]>
