import type { StoredRecord } from '@millrace/log'
import { type StoredEvent, storedEvents } from '@millrace/protocol'

/** The events of a record; none if it cannot be read: delivery reports that. */
export function readableEvents(record: StoredRecord): readonly StoredEvent[] {
  try {
    return storedEvents(record).events
  } catch {
    return []
  }
}
