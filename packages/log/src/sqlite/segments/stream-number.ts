import { STREAMS, type Stream } from '../../event-log.ts'

/** A stream of a partition as one number: twice the partition, plus one for backfills. */
export type StreamNumber = number

export function streamNumber(partition: number, stream: Stream): StreamNumber {
  return partition * STREAMS.length + STREAMS.indexOf(stream)
}

export function partitionOfStream(number: StreamNumber): number {
  return Math.floor(number / STREAMS.length)
}

export function streamOfNumber(number: StreamNumber): Stream {
  return STREAMS[number % STREAMS.length]!
}
