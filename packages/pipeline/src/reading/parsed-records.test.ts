import type { StoredRecord } from '@millrace/log'
import { ENRICHMENT_RULES, type EventRecord, type JsonObject } from '@millrace/protocol'
import { expect, test } from 'vitest'
import { ParsedRecords } from './parsed-records.ts'

/** A record with one event. @param seedEnd last byte of its seed; the others are equal. */
function recordOf(
  messageId: string,
  seedEnd: number,
  properties: JsonObject = {},
): { record: EventRecord; parsed: JsonObject } {
  const parsed = { batch: [{ type: 'track', event: 'Seat Reserved', userId: 'u', messageId, properties }] }
  const seed = new Uint8Array(16).fill(7)
  seed[15] = seedEnd
  const header = {
    sourceId: 's',
    route: 'batch' as const,
    acceptedAt: Date.parse('2026-03-04T09:15:31.900Z'),
    clientAddress: '203.0.113.9',
    seed,
    rules: ENRICHMENT_RULES,
    policySet: 0,
    messageHashes: new Uint8Array(8),
  }
  return { record: { header, body: Buffer.from(JSON.stringify(parsed)) }, parsed }
}

function newRecords(): ParsedRecords {
  return new ParsedRecords((_partition, _offset, error) => {
    throw error
  })
}

function stored({ record }: { record: EventRecord }, offset: number): StoredRecord {
  return { ...record, offset }
}

test('two records whose seeds begin alike each have their own events, whichever is read first', () => {
  for (const order of [
    [0, 1],
    [1, 0],
  ]) {
    const parsed = newRecords()
    const both = [recordOf('m-0', 1), recordOf('m-1', 2)]
    for (const each of both) parsed.keep(each.record, each.parsed)
    for (const at of order) {
      const [event] = parsed.eventsOf(0, stored(both[at]!, at))
      expect(event?.messageId).toBe(`m-${at}`)
    }
  }
})

test('a record is parsed once for all readers', () => {
  const parsed = newRecords()
  const record = stored(recordOf('m-0', 1), 5)
  expect(parsed.eventsOf(3, record)).toBe(parsed.eventsOf(3, record))
})

test('a large record that is taken in parts is parsed once, too', () => {
  const parsed = newRecords()
  const large = stored(recordOf('m-0', 1, { text: 'x'.repeat(3_000_000) }), 5)
  const events = parsed.eventsOf(0, large)
  expect(parsed.eventsOf(0, large)).toBe(events)
  parsed.eventsOf(0, stored(recordOf('m-1', 2), 6))
  expect(parsed.eventsOf(0, large)).not.toBe(events)
})
