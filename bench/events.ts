import { hrtime } from 'node:process'

const USERS = 1_000
const STAMP = '"sentMicros":"'
const STAMP_DIGITS = 16
const MESSAGE_ID = '"messageId":"'
const INDEX_DIGITS = 12

/** What one run sends; the number of the run tells its events from those of every other. */
export interface RunNumber {
  readonly run: number
}

/**
 * An event of 0.8 KB. Its messageId holds the run and its index in it, its properties a place for the time of sending.
 *
 * @param user of which there are 1,000; each has an anonymousId of its own, since order is kept by either id.
 * @param shape each other than 0 has a property of its own, and so is a version of its own.
 */
export function newEvent(run: RunNumber, index: number, user: number, shape = 0) {
  const userDigits = String(user % USERS).padStart(12, '0')
  return {
    type: 'track',
    messageId: messageIdOf(run, index),
    userId: `user-${userDigits}`,
    anonymousId: `e5245eca-b5ef-4104-a5f3-${userDigits}`,
    event: 'Seat Reserved',
    properties: {
      sentMicros: '0'.repeat(STAMP_DIGITS),
      hall: 'B',
      seat: 14,
      price: 18.5,
      tags: ['matinee', 'balcony'],
      note: 'A seat near the aisle, please. '.repeat(6),
      ...(shape === 0 ? {} : { [`extra${shape}`]: true }),
    },
    context: {
      library: { name: 'millrace-js', version: '1.2.0' },
      page: { path: '/programme', title: 'Programme', url: 'https://cinema.example/programme' },
      ip: '203.0.113.9',
      locale: 'en-GB',
    },
    integrations: { All: true },
    originalTimestamp: '2026-03-04T09:15:27.120Z',
    sentAt: '2026-03-04T09:15:28.400Z',
  }
}

export function messageIdOf({ run }: RunNumber, index: number): string {
  return `8ed31aa9-450f-${String(run).padStart(4, '0')}-9872-${String(index).padStart(INDEX_DIGITS, '0')}`
}

/** Of the clock that all processes of one machine share. */
export function nowMicros(): number {
  return Number(hrtime.bigint() / 1_000n)
}

/** Where the times of sending stand in the bytes of a request. */
export function stampPlaces(request: Buffer): number[] {
  const places: number[] = []
  for (let at = request.indexOf(STAMP); at >= 0; at = request.indexOf(STAMP, at)) {
    at += STAMP.length
    places.push(at)
  }
  return places
}

export function stamp(request: Buffer, places: readonly number[], micros: number): void {
  const digits = String(micros).padStart(STAMP_DIGITS, '0')
  for (const place of places) request.write(digits, place, 'latin1')
}

/** Where the digits of its index stand in the messageId of each event. */
export function indexPlaces(bytes: Buffer): number[] {
  const places: number[] = []
  for (let at = bytes.indexOf(MESSAGE_ID); at >= 0; at = bytes.indexOf(MESSAGE_ID, at)) {
    at += MESSAGE_ID.length + 24
    places.push(at)
  }
  return places
}

export function writeIndex(bytes: Buffer, place: number, index: number): void {
  bytes.write(String(index).padStart(INDEX_DIGITS, '0'), place, 'latin1')
}

const stampMark = Buffer.from(STAMP)
const messageIdMark = Buffer.from(MESSAGE_ID)

/** What the sink needs of each event of a request, wherever in its bytes the product has put it. */
export function* readEvents(
  bytes: Buffer,
): Generator<{ readonly run: number; readonly index: number; readonly sentMicros: number }> {
  let sentAt = 0
  for (let idAt = bytes.indexOf(messageIdMark); idAt >= 0; idAt = bytes.indexOf(messageIdMark, idAt)) {
    idAt += MESSAGE_ID.length
    sentAt = bytes.indexOf(stampMark, sentAt) + STAMP.length
    yield {
      run: digitsAt(bytes, idAt + 14, 4),
      index: digitsAt(bytes, idAt + 24, INDEX_DIGITS),
      sentMicros: digitsAt(bytes, sentAt, STAMP_DIGITS),
    }
  }
}

function digitsAt(bytes: Buffer, start: number, count: number): number {
  let value = 0
  for (let at = start; at < start + count; at++) value = value * 10 + bytes[at]! - 48
  return value
}
