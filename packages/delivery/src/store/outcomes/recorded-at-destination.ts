import type { Recorded } from '../outcome-store.ts'

/** The records of one event at one destination, each kind from its own tables. */
export interface RecordsAtDestination {
  /** In order: at most one of the first delivery, and one of each replay of the log. */
  readonly deliveries: readonly Recorded[]
  readonly letter: Recorded | undefined
  /** The first range that contains the event. */
  readonly range: Recorded | undefined
}

/** In order of time: the first delivery, then each replay of the log. */
export function recordedAtDestination({ deliveries, letter, range }: RecordsAtDestination): Recorded[] {
  const hasFirst = deliveries[0] !== undefined && !isOfReplay(deliveries[0])
  // If the first delivery has an outcome, the dead letter belongs to a replay.
  if (letter !== undefined) return hasFirst ? [...deliveries, letter] : [letter, ...deliveries]
  return hasFirst || range === undefined ? [...deliveries] : [range, ...deliveries]
}

function isOfReplay(recorded: Recorded): boolean {
  return recorded.kind !== 'range' && recorded.replayId !== null
}
