import type { Tally } from './event-log.ts'

export function addToTally(tally: Tally, sourceId: string, events: number, bytes: number): void {
  const sum = tally.get(sourceId)
  if (sum === undefined) {
    tally.set(sourceId, { events, bytes })
  } else {
    sum.events += events
    sum.bytes += bytes
  }
}
