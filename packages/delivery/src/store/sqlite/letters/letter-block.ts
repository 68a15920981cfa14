import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/** The fields in which the letters of a range differ. */
export interface PackedLetter {
  readonly offset: number
  readonly index: number
  /** Ms since 1970. */
  readonly acceptedAt: number
  /** JSON of the stored event. */
  readonly event: string
}

/** A letter without its event. */
export interface LetterPlace extends Omit<PackedLetter, 'event'> {
  /** Size of its event in bytes. */
  readonly eventBytes: number
}

const PLACE_BYTES = 18

/*
 * Places, 18 bytes each, numbers little-endian:
 *
 *    0  u48  offset     6  u16  index     8  u48  acceptedAt     14  u32  bytes of the event
 *
 * and the events one behind the other, as zstd: those of one outage are much alike.
 */
export function packLetters(letters: readonly PackedLetter[]): { places: Buffer; events: Buffer; eventBytes: number } {
  const places = Buffer.alloc(letters.length * PLACE_BYTES)
  const events = letters.map(({ event }) => Buffer.from(event))
  for (const [i, { offset, index, acceptedAt }] of letters.entries()) {
    const at = i * PLACE_BYTES
    places.writeUIntLE(offset, at, 6)
    places.writeUInt16LE(index, at + 6)
    places.writeUIntLE(Math.max(0, Math.floor(acceptedAt)), at + 8, 6)
    places.writeUInt32LE(events[i]!.length, at + 14)
  }
  const all = Buffer.concat(events)
  return { places, events: zstdCompressSync(all), eventBytes: all.length }
}

export function countPlaces(places: Uint8Array): number {
  return places.length / PLACE_BYTES
}

export function readPlace(places: Uint8Array, i: number): LetterPlace {
  const buffer = Buffer.from(places.buffer, places.byteOffset, places.byteLength)
  const at = i * PLACE_BYTES
  return {
    offset: buffer.readUIntLE(at, 6),
    index: buffer.readUInt16LE(at + 6),
    acceptedAt: buffer.readUIntLE(at + 8, 6),
    eventBytes: buffer.readUInt32LE(at + 14),
  }
}

/** Index of the letter with a place; -1 if none. */
export function findPlace(places: Uint8Array, offset: number, index: number): number {
  let low = 0
  let high = countPlaces(places) - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const place = readPlace(places, middle)
    const order = place.offset - offset || place.index - index
    if (order === 0) return middle
    if (order < 0) low = middle + 1
    else high = middle - 1
  }
  return -1
}

/** The events in order. */
export function unpackEvents(places: Uint8Array, events: Uint8Array): string[] {
  const all = zstdDecompressSync(events)
  let at = 0
  return Array.from({ length: countPlaces(places) }, (_, i) => {
    const from = at
    at += readPlace(places, i).eventBytes
    return all.toString('utf8', from, at)
  })
}
