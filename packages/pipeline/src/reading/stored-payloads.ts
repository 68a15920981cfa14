import type { EventPlace, LaneEvent, LaneOutcomes } from '@millrace/delivery'
import type { StoredEvent } from '@millrace/protocol'
import type { DeliveryDeps } from '../delivery/delivery-deps.ts'

type Payload = StoredEvent | undefined

/**
 * Reads payloads that are not in memory from the log, or from the dead letter that is replayed.
 *
 * @param onLogError called before it throws, if the log cannot be read.
 * @returns payloads parallel to the events; undefined for a lost one.
 */
export async function storedPayloads(
  events: readonly LaneEvent[],
  { log, parsed, store }: Pick<DeliveryDeps, 'log' | 'parsed' | 'store'>,
  onLogError: (error: Error) => void,
): Promise<Payload[]> {
  const payloads: Payload[] = []
  const { log: ofLog = [], letters = [] } = Object.groupBy([...events.entries()], ([, { replayed }]) =>
    replayed?.letterId === undefined ? 'log' : 'letters',
  )
  if (letters.length > 0) {
    const ids = letters.map(([, { replayed }]) => replayed!.letterId!)
    const kept = await store.deadLetters.events(ids)
    for (const [i, [at]] of letters.entries()) {
      const event = kept[i]
      payloads[at] = event === undefined ? undefined : JSON.parse(event)
    }
  }
  for (const [partition, ofPartition] of Map.groupBy(ofLog, ([, event]) => event.partition)) {
    const offsets = ofPartition.map(([, event]) => event.offset)
    const records = await log.get(partition, offsets).catch((error: Error) => {
      onLogError(error)
      throw error
    })
    for (const [i, record] of records.entries()) {
      const [at, event] = ofPartition[i]!
      payloads[at] = record && parsed.eventsOf(partition, record)[event.index]
    }
  }
  return payloads
}

/** Reads events of the log with the facts of their acceptance; undefined for a lost event. */
export async function acceptedEvents(
  places: readonly EventPlace[],
  { log, parsed }: Pick<DeliveryDeps, 'log' | 'parsed'>,
): ReturnType<LaneOutcomes['readAccepted']> {
  const found: Awaited<ReturnType<LaneOutcomes['readAccepted']>>[number][] = []
  for (const { partition, offset, index } of places) {
    const [record] = await log.get(partition, [offset])
    const event = record && parsed.eventsOf(partition, record)[index]
    const { sourceId = '', acceptedAt = 0 } = record?.header ?? {}
    found.push(event && { sourceId, acceptedAt, event: JSON.stringify(event) })
  }
  return found
}
