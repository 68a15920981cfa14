import type { EventLog, Offset } from '@millrace/log'

/** The log of a cluster, as its parts need it. */
export interface ClusterLog extends EventLog {
  /** Announces new records of a partition to `onCommit` from now on. @returns a function that ends it. */
  follow(partition: number): Promise<() => void>
  /** Where all partitions end now. */
  readEnds(): Promise<readonly Offset[]>
}

/** The partitions of a shard: one for live events, and the one for the backfills of the same sources. */
export function partitionsOfShard(shard: number, { homes }: Pick<EventLog, 'homes'>): number[] {
  return [shard, shard + homes]
}

/**
 * The log as shards see it. Where backfills lie in partitions of their own, these have an empty live stream: a reader of it
 * passes the records of the backfill, and must hear of them, or its position would stay behind for ever.
 */
export function logOfShards<Log extends ClusterLog>(log: Log): Log {
  const onCommit: EventLog['onCommit'] = (listener) =>
    log.onCommit((partition, stream) => {
      listener(partition, stream)
      if (partition >= log.homes) listener(partition, 'live')
    })
  return new Proxy(log, {
    get(target, name) {
      if (name === 'onCommit') return onCommit
      const value = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
