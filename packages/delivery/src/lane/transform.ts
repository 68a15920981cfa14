import type { LaneEvent } from './queue/lane-event.ts'
import type { Transformed } from './transformed.ts'

/** Runs user code on loaded events. @returns a result per event, in the same order; never rejects. */
export type Transform = (events: readonly LaneEvent[]) => Promise<readonly Transformed[]>
