import { describe, expect, test } from 'vitest'
import { decodeHashes, decodeRecord, ENRICHMENT_RULES, type EventRecord, encodedSize, encodeRecord } from './record.ts'

const record: EventRecord = {
  header: {
    sourceId: '3iidO0kXIpgrmam9JhPLS2gpoVe',
    route: 'backfill',
    acceptedAt: Date.parse('2026-03-04T09:15:31.900Z'),
    clientAddress: '203.0.113.9',
    seed: Buffer.from('00112233445566778899aabbccddeeff', 'hex'),
    rules: 2,
    policySet: 70_000,
    messageHashes: Buffer.from('0102030405060708', 'hex'),
  },
  body: Buffer.from('{"batch":[]}'),
}

function encoded(): Buffer {
  const bytes = Buffer.alloc(encodedSize(record))
  expect(encodeRecord(record, bytes, 0)).toBe(bytes.length)
  return bytes
}

/** Written by a release that knew format 1 alone. */
const FORMAT_1 =
  '0108010000c0ab1882cb794200112233445566778899aabbccddeeff010000001b336969644f306b58497067726d616d' +
  '394a68504c533267706f56650b3230332e302e3131332e3901020304050607087b226261746368223a5b5d7d'

describe('an encoded record', () => {
  test('is read as it was written', () => {
    const { header, body } = decodeRecord(encoded())
    expect({ ...header, seed: [...header.seed], messageHashes: [...header.messageHashes] }).toEqual({
      ...record.header,
      seed: [...record.header.seed],
      messageHashes: [...record.header.messageHashes],
    })
    expect(Buffer.from(body).toString()).toBe('{"batch":[]}')
  })

  test('of format 1 is read, as one that no policy treated', () => {
    const { header, body } = decodeRecord(Buffer.from(FORMAT_1, 'hex'))
    expect(header).toMatchObject({ ...record.header, rules: 1, policySet: 0 })
    expect(Buffer.from(body).toString()).toBe('{"batch":[]}')
  })

  test('gives its hashes alone, in either format', () => {
    for (const bytes of [encoded(), Buffer.from(FORMAT_1, 'hex')]) {
      const { sourceId, acceptedAt, messageHashes } = decodeRecord(bytes).header
      expect(decodeHashes(bytes)).toEqual({ sourceId, acceptedAt, messageHashes })
    }
  })

  test.each([0, ENRICHMENT_RULES + 1, 65_535])(
    'under the unknown rules %d is refused, but gives its hashes',
    (rules) => {
      const bytes = encoded()
      bytes.writeUInt16LE(rules, 2)
      expect(() => decodeRecord(bytes)).toThrow(`record has unknown enrichment rules ${rules}`)
      expect(decodeHashes(bytes)).toEqual(decodeHashes(encoded()))
    },
  )

  test('of another format, with a flag that this version does not know, or cut, is refused', () => {
    const damaged: [position: number, value: number][] = [
      [0, 0],
      [0, 3],
      [1, 200],
      [32, 1],
      [33, 128],
    ]
    for (const [position, value] of damaged) {
      const bytes = encoded()
      bytes[position] = value
      expect(() => decodeRecord(bytes)).toThrow(expect.objectContaining({ code: 'RECORD_FORMAT' }))
    }
    const bytes = encoded()
    for (let length = 0; length < bytes.length - record.body.length; length++) {
      const cut = bytes.subarray(0, length)
      for (const decode of [decodeRecord, decodeHashes]) {
        expect(() => decode(cut)).toThrow(expect.objectContaining({ code: 'RECORD_FORMAT' }))
      }
    }
  })
})
