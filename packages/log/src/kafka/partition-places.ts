import type { Stream } from '../event-log.ts'

export interface PartitionPlace {
  readonly topic: string
  readonly index: number
}

/**
 * Where the partitions of the log are in Kafka: 0 to P−1 are those of the topic for live events, P to 2P−1 those of the topic
 * for backfills. So each partition has one stream and one counter of offsets.
 */
export class PartitionPlaces {
  readonly liveTopic: string
  readonly importTopic: string
  /** P: the partitions that sources have. */
  readonly homes: number

  constructor(prefix: string, homes: number) {
    this.liveTopic = `${prefix}.live`
    this.importTopic = `${prefix}.import`
    this.homes = homes
  }

  get topics(): readonly string[] {
    return [this.liveTopic, this.importTopic]
  }

  get count(): number {
    return this.homes * 2
  }

  streamOf(partition: number): Stream {
    return partition < this.homes ? 'live' : 'backfill'
  }

  /** The partition that a record goes to. @throws RangeError if `home` is no partition of a source. */
  partitionOf(home: number, stream: Stream): number {
    if (!(home >= 0 && home < this.homes)) throw new RangeError(`no partition ${home}`)
    return stream === 'live' ? home : home + this.homes
  }

  placeOf(partition: number): PartitionPlace {
    if (!(partition >= 0 && partition < this.count)) throw new RangeError(`no partition ${partition}`)
    return partition < this.homes
      ? { topic: this.liveTopic, index: partition }
      : { topic: this.importTopic, index: partition - this.homes }
  }

  /** @param topic one of `topics`. */
  numberOf(topic: string, index: number): number {
    return topic === this.liveTopic ? index : index + this.homes
  }
}
