import { ManualClock } from '@millrace/std'
import { LaneEvent, type Replayed } from '../../lane/queue/lane-event.ts'
import type { DeliveryStore } from '../delivery-store.ts'
import type { NewLetterJob } from '../job-store.ts'
import type { DeadLetterWrite, JourneyWrite } from '../outcomes/flush.ts'
import type { OutcomeWriterOptions } from '../outcomes/outcome-writer.ts'

export const NOW = Date.parse('2026-03-04T09:00:00.000Z')
export const REQUEST = { method: 'POST', endpoint: 'http://x/', headers: {}, attempts: [] }

/** The place where an engine keeps one store; each `open` is a start of the server over the same state. */
export interface StorePlace extends AsyncDisposable {
  open(clock: ManualClock, logger: OutcomeWriterOptions['logger']): Promise<DeliveryStore>
}

export type MakePlace = () => Promise<StorePlace>

export const SILENT = { info() {}, error() {} }

type Work = (store: DeliveryStore, clock: ManualClock) => Promise<void>

/** Runs work against a store, then against the same store after a restart. */
export async function withStore(makePlace: MakePlace, ...parts: readonly Work[]): Promise<void> {
  await using place = await makePlace()
  const clock = new ManualClock(NOW)
  for (const part of parts) {
    const store = await place.open(clock, SILENT)
    try {
      await part(store, clock)
    } finally {
      await store.close()
    }
  }
}

export function laneOf(store: DeliveryStore, destinationId: string, offset: number) {
  const outcomes = store.outcomesOf(destinationId)
  outcomes.positions = () => [{ partition: 0, stream: 0, position: { offset, index: 0 } }]
  return outcomes
}

export function recordedAt(store: DeliveryStore, offset: number, index = 0) {
  return store.outcomes.recorded({ partition: 0, offset, index, sourceId: 's1' })
}

export function eventAt(offset: number, index = 0, replayed?: Replayed): LaneEvent {
  const facts = { sourceId: 's1', acceptedAt: NOW, sizeBytes: 10, userKey: 0, anonymousKey: 0 }
  return new LaneEvent({ partition: 0, stream: 0, offset, index }, facts, undefined, replayed)
}

/** An event that has a row in the store. */
export function rowEvent(offset: number): LaneEvent {
  const event = eventAt(offset)
  event.hasRow = true
  return event
}

export function wait(offset: number, change: Partial<JourneyWrite> = {}): JourneyWrite {
  return {
    ...{ partition: 0, stream: 0, offset, index: 0, destinationId: 'd1', sourceId: 's1', replayId: null },
    ...{ outcome: 'waiting', reason: null, acceptedAt: NOW, sizeBytes: 10, userKey: 0, anonymousKey: 0, attempts: 1 },
    ...{ deliveredRequests: 0, firstAttemptAt: NOW, dueAt: NOW, requests: [REQUEST], revision: 1, at: NOW },
    ...change,
  }
}

export function letter(offset: number, change: Partial<DeadLetterWrite> = {}): DeadLetterWrite {
  return {
    ...{ partition: 0, stream: 0, offset, index: 0, destinationId: 'd1', sourceId: 's1', replayId: null },
    ...{ stage: 'delivery', reason: 'answered 400', acceptedAt: NOW, deadAt: NOW, attempts: 1, lastStatus: 400 },
    ...{ lastAnswer: null, revision: 1, requests: null },
    event: JSON.stringify({ messageId: `m-${offset}`, userId: `u-${offset}` }),
    ...change,
  }
}

export function replayJob(id: string): NewLetterJob {
  return {
    ...{ id, kind: 'replay', isDryRun: false, ratePerSecond: 10, createdBy: 'u', at: NOW },
    ...{ selection: { filter: {} }, destinationIds: ['d1'] },
  }
}
