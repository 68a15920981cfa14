import { describe, expect, test } from 'vitest'
import { setDeliveryTimes } from './delivery-times.ts'
import type { StoredEvent } from './event.ts'
import { ENRICHMENT_RULES } from './record.ts'
import { formatTime, parseTime } from './time.ts'

const RECEIVED_AT = '2026-03-04T09:15:31.900Z'

interface Times {
  readonly timestamp?: unknown
  readonly originalTimestamp?: unknown
  readonly sentAt?: unknown
  readonly receivedAt?: unknown
  readonly envelopeSentAt?: unknown
}

function check(given: Times, wanted: Record<string, string>, rules = ENRICHMENT_RULES): void {
  const { envelopeSentAt, ...own } = given
  const event = { type: 'track', messageId: 'm', receivedAt: RECEIVED_AT, ...own } as StoredEvent
  setDeliveryTimes(event, { sentAt: envelopeSentAt as string, rules })
  const { timestamp, originalTimestamp, sentAt, receivedAt } = event
  const usual = { receivedAt: RECEIVED_AT, sentAt: RECEIVED_AT, originalTimestamp: RECEIVED_AT, timestamp: RECEIVED_AT }
  expect({ timestamp, originalTimestamp, sentAt, receivedAt }).toEqual({ ...usual, ...wanted })
}

describe('times at take-up', () => {
  const original = '2026-03-04T09:15:27.120Z'
  const sent = '2026-03-04T09:15:28.400Z'

  test('nothing given: all are the time of acceptance', () => check({}, {}))

  test('a skewed clock is taken out of the timestamp', () => {
    check(
      { originalTimestamp: original, sentAt: sent },
      { originalTimestamp: original, sentAt: sent, timestamp: '2026-03-04T09:15:30.620Z' },
    )
    check(
      { originalTimestamp: '2031-01-01T00:00:00.000Z', sentAt: '2031-01-01T00:01:00.000Z' },
      {
        originalTimestamp: '2031-01-01T00:00:00.000Z',
        sentAt: '2031-01-01T00:01:00.000Z',
        timestamp: '2026-03-04T09:14:31.900Z',
      },
    )
  })

  test('an own timestamp counts before the formula', () => {
    const timestamp = '2026-03-01T00:00:00.000Z'
    check(
      { timestamp, originalTimestamp: original, sentAt: sent },
      { timestamp, originalTimestamp: original, sentAt: sent },
    )
  })

  test('without originalTimestamp the timestamp plays its part: it is by the clock of the device', () => {
    const [timestamp, sentAt] = ['2031-01-01T00:00:00.000Z', '2031-01-01T00:01:00.000Z']
    check({ timestamp, sentAt }, { originalTimestamp: timestamp, sentAt, timestamp: '2026-03-04T09:14:31.900Z' })
    check(
      { timestamp, originalTimestamp: 7, envelopeSentAt: sentAt },
      { originalTimestamp: timestamp, sentAt, timestamp: '2026-03-04T09:14:31.900Z' },
    )
    // Nothing tells the clock's error: the time of history that is sent in stays.
    check(
      { timestamp: '2019-05-01T10:00:00.000Z' },
      { originalTimestamp: '2019-05-01T10:00:00.000Z', timestamp: '2019-05-01T10:00:00.000Z' },
    )
    // Rules 1 took it for the server's time.
    check({ timestamp, sentAt }, { timestamp, sentAt }, 1)
  })

  test("the envelope's sentAt stands in for a missing own one", () => {
    const wanted = { originalTimestamp: original, sentAt: sent, timestamp: '2026-03-04T09:15:30.620Z' }
    check({ originalTimestamp: original, envelopeSentAt: sent }, wanted)
    check({ originalTimestamp: original, envelopeSentAt: sent, sentAt: 'not a time' }, wanted)
    check({ originalTimestamp: original, envelopeSentAt: '2020-01-01', sentAt: sent }, wanted)
  })

  test('what is no time counts as missing', () => {
    const wrong = ['', 'now', 1_772_615_731_900, null, true, {}, ['2026-03-04']]
    for (const value of wrong) {
      check({ timestamp: value, originalTimestamp: value, sentAt: value, envelopeSentAt: value }, {})
    }
  })

  test('all four are written in one form', () => {
    check(
      {
        timestamp: '2026-03-04',
        originalTimestamp: '2026-03-04T11:15:27.1+02:00',
        sentAt: '2026-03-04 09:15',
        receivedAt: '2026-03-04T09:15:31,9',
      },
      {
        timestamp: '2026-03-04T00:00:00.000Z',
        originalTimestamp: '2026-03-04T09:15:27.100Z',
        sentAt: '2026-03-04T09:15:00.000Z',
        receivedAt: RECEIVED_AT,
      },
    )
  })

  test('a text as long as the one form, but in another form, is written anew', () => {
    for (const sentAt of [
      '2026-03-04t09:15:28.400Z',
      '2026-03-04 09:15:28.400Z',
      '2026-03-04T09:15:28,400Z',
      '2026-03-04T09:15:28.400z',
      '2026-03-04T10:15:28.4+01',
    ]) {
      expect(sentAt).toHaveLength(24)
      check({ sentAt }, { sentAt: sent, timestamp: '2026-03-04T09:15:35.400Z' })
    }
    // As long, in the same places the same letters, and no time.
    check({ sentAt: '2026-03-94T09:15:28.400Z' }, {})
  })

  test('absurd clocks never lead to a time that RFC 3339 cannot write', () => {
    const extremes = [
      '0000-01-01',
      '9999-12-31T23:59:59.999Z',
      '0000-01-01T00:00:00+14:00',
      '9999-12-31T23:59:59-14:00',
    ]
    for (const originalTimestamp of extremes) {
      for (const sentAt of extremes) {
        const event = { type: 'track', messageId: 'm', receivedAt: RECEIVED_AT, originalTimestamp, sentAt } as unknown
        setDeliveryTimes(event as StoredEvent, { sentAt: undefined, rules: ENRICHMENT_RULES })
        for (const name of ['timestamp', 'originalTimestamp', 'sentAt', 'receivedAt']) {
          expect((event as Record<string, string>)[name]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        }
      }
    }
  })
})

describe('a time', () => {
  test('is an ISO 8601 date or date-time, in UTC unless it says otherwise', () => {
    const cases: [text: string, canonical: string | undefined][] = [
      ['2026-03-04T09:15:27.120Z', '2026-03-04T09:15:27.120Z'],
      ['2026-03-04T09:15:27.120', '2026-03-04T09:15:27.120Z'],
      ['2026-03-04T09:15:27Z', '2026-03-04T09:15:27.000Z'],
      ['2026-03-04T09:15:27.1239999Z', '2026-03-04T09:15:27.123Z'],
      ['2026-03-04T09:15+05:30', '2026-03-04T03:45:00.000Z'],
      ['2026-03-04T09:15-0800', '2026-03-04T17:15:00.000Z'],
      ['2026-03-04T23:15-08', '2026-03-05T07:15:00.000Z'],
      ['2024-02-29', '2024-02-29T00:00:00.000Z'],
      ['0001-01-01', '0001-01-01T00:00:00.000Z'],
      ['1900-02-29', undefined],
      ['2026-02-29T00:00:00.000Z', undefined],
      ['2026-04-31', undefined],
      ['2026-00-10T00:00:00.000Z', undefined],
      ['2026-03-04T24:00:00.000Z', undefined],
      ['2026-03-04T23:60:00.000Z', undefined],
      ['2026-03-04T23:59:60.000Z', undefined],
      ['2026-03-04T09:15:27.120Z ', undefined],
      ['4 March 2026', undefined],
      ['1772615731900', undefined],
      ['2026-03-04T09:15:27.120+25:00', undefined],
    ]
    for (const [text, canonical] of cases) {
      const ms = parseTime(text)
      expect([text, ms === undefined ? undefined : formatTime(ms)]).toEqual([text, canonical])
      if (canonical !== undefined) expect(ms).toBe(Date.parse(canonical))
    }
  })

  test('is written as Date writes it, whatever was written before', () => {
    const dayMs = 86_400_000
    for (let day = -719_528; day < 2_932_897; day += 12_345) {
      for (const ms of [0, 1, 43_200_999, dayMs - 1]) {
        const time = day * dayMs + ms
        expect(formatTime(time)).toBe(new Date(time).toISOString())
        expect(parseTime(formatTime(time))).toBe(time)
      }
    }
  })
})
