import type { StoredEvent } from '@millrace/protocol'
import type { LaneEvent } from './lane-event.ts'

/** What user code made of an event. @see contracts/transformations.md §2 */
export type Transformed =
  | {
      readonly kind: 'events'
      /** What is to be sent for it, as user code left it: it may lack anything. */
      readonly events: readonly StoredEvent[]
      /** About what they take in memory. */
      readonly sizeBytes: number
      /** Credentials that user code has read: they are masked wherever something of the events is shown. */
      readonly secrets: readonly string[]
    }
  | { readonly kind: 'dropped' }
  | { readonly kind: 'failed'; readonly error: string }

/** Runs user code over events that have their payload. @returns what became of each, in their order; never rejects. */
export type Transform = (events: readonly LaneEvent[]) => Promise<readonly Transformed[]>
