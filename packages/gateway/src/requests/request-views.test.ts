import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { MemoryEventLog, STREAMS, type StoredRecord } from '@millrace/log'
import { messageHash, storedEvents } from '@millrace/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scanJson } from '../events/json-shape.ts'
import { basic, GatewayUnderTest, KEY } from '../gateway-under-test.ts'
import { type BatchParts, batchParts, elementText, textOf } from '../testing/json-texts.ts'

// The gateway looks at the bytes of a request, at its parsed form, and stores both views for readers. They must never differ.
// fast-check prints the seed of a run that fails.

const HOOK_KEY = 'hook'
const PARTITIONS = 4
const paths = { event: 'event', userId: 'userId', anonymousId: 'anonymousId', messageId: 'messageId' }

interface Request {
  readonly path: string
  readonly text: string
}

const BATCH_PATHS = ['/v1/batch', '/v1/import', '/v1/backfill', `/s/v1/batch?writeKey=${KEY}`]
const SINGLE_PATHS = ['/v1/track', '/v1/p', '/v1/merge', '/api/s/s2s/identify']

const requests: fc.Arbitrary<Request> = fc.oneof(
  fc.record({ path: fc.constantFrom(...BATCH_PATHS), text: batchParts().map(textOf) }),
  fc.record({ path: fc.constantFrom(...SINGLE_PATHS), text: elementText }),
  fc.record({ path: fc.constant(`/hooks/${HOOK_KEY}`), text: elementText }),
  fc.record({
    path: fc.constant(`/v1/webhook?writeKey=${HOOK_KEY}`),
    text: fc.array(elementText, { minLength: 1, maxLength: 9 }).map((all) => `[${all.join(' , ')}]`),
  }),
)

const encodings = fc.constantFrom(
  ['identity', (bytes: Buffer) => bytes] as const,
  ['gzip', gzipSync] as const,
  ['br', brotliCompressSync] as const,
  ['deflate', deflateSync] as const,
)

/** Other bytes in some places; none: the text as it is. */
const faults = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 2 })

function spoiled(text: string, changes: readonly (readonly [number, number])[]): Buffer {
  const bytes = Buffer.from(text)
  for (const [place, byte] of changes) bytes[place % bytes.length] = byte
  return bytes
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
    return true
  } catch {
    return false
  }
}

describe('the bytes and the parsed form of a request', () => {
  test('are the same events for every reader, with the hashes of their record', async () => {
    const shared = { partition: 3, orderShards: 3 }
    await using under = await GatewayUnderTest.start({
      log: new MemoryEventLog(PARTITIONS),
      // Small, so that most requests are scanned.
      limits: { maxEventBytes: 400 },
      sources: { [KEY]: shared, [HOOK_KEY]: { id: 'hook', ...shared, webhook: { paths } } },
    })
    const ends = new Map<string, number>()
    const added = async () => {
      const all: StoredRecord[] = []
      for (let partition = 0; partition < PARTITIONS; partition++) {
        for (const stream of STREAMS) {
          const place = `${partition} ${stream}`
          const { records, next } = await under.log.read(partition, stream, ends.get(place) ?? 0, 1e9)
          ends.set(place, next)
          all.push(...records)
        }
      }
      return all
    }
    const counts = { stored: 0, refused: 0 }
    const property = fc.asyncProperty(
      requests,
      encodings,
      faults,
      async ({ path, text }, [encoding, encode], changes) => {
        const bytes = spoiled(text, changes)
        const headers = { ...basic(KEY), 'Content-Encoding': encoding }
        const { status } = await under.send({ path, headers, body: encode(bytes) })
        const records = await added()
        expect(under.faults).toEqual([])
        expect(records.length > 0).toBe(status === 200)
        if (status === 200) expect(isJson(bytes)).toBe(true)
        for (const record of records) {
          const { events, sentAt } = storedEvents(record)
          const live = storedEvents(record, under.kept.get(record.header))
          expect(JSON.stringify([live.events, live.sentAt])).toBe(JSON.stringify([events, sentAt]))
          const hashes = Buffer.concat(events.map(({ messageId }) => messageHash(messageId)))
          expect(Buffer.from(record.header.messageHashes).equals(hashes)).toBe(true)
          for (const { userId, anonymousId } of events)
            expect(userId || anonymousId).toEqual(expect.stringMatching(/\S/))
        }
        counts[status === 200 ? 'stored' : 'refused']++
      },
    )
    await fc.assert(property, { numRuns: 150 })
    expect(counts.stored).toBeGreaterThan(30)
    expect(counts.refused).toBeGreaterThan(10)
  })

  test('have the same sizes of events and envelope', () => {
    const valueBytes = ({ members }: BatchParts, wanted: string) => {
      const text = members.findLast(({ name }) => name === wanted)?.text ?? ':'
      return Buffer.byteLength(text.slice(text.indexOf(':') + 1).trim())
    }
    fc.assert(
      fc.property(batchParts(), (parts) => {
        const { elementBytes, envelopeBytes } = scanJson(Buffer.from(textOf(parts)), 202)
        expect(elementBytes).toEqual(parts.elements.map((element) => Buffer.byteLength(element)))
        expect(envelopeBytes).toBe(valueBytes(parts, 'context') + valueBytes(parts, 'integrations'))
      }),
      { numRuns: 200 },
    )
  })
})
