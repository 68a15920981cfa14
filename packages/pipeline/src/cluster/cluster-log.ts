import type { EventLog, Offset, RulesRead } from '@millrace/log'

/** The log of a cluster, as its parts need it. */
export interface ClusterLog extends EventLog {
  /** How the topics delete records, as of their last check; Infinity: not by age. */
  readonly retention: { readonly retentionMs: number }
  /** Announces new records of a partition to `onCommit` from now on. @returns a function that ends it. */
  follow(partition: number): Promise<() => void>
  /** Where all partitions end now. */
  readEnds(): Promise<readonly Offset[]>
  /** As `read`, for the owner of a partition who decides on duplicates: only records with a rule, not decoded. */
  readRules(partition: number, from: Offset, maxBytes: number): Promise<RulesRead>
  /** The first record that was stored at or after a time; the end if there is none. */
  storedFrom(partition: number, time: number): Promise<Offset>
}

/** The partitions of a shard: one for live events, and the one for the backfills of the same sources. */
export function partitionsOfShard(shard: number, { homes }: Pick<EventLog, 'homes'>): number[] {
  return [shard, shard + homes]
}

/** How far a shard is decided. */
export interface DecidedShard {
  /** Where the records that readers may not pass begin. */
  end(partition: number): Offset
  /** Calls back when the end has moved. @returns a function that ends it. */
  onMove(listener: (partition: number) => void): () => void
}

/**
 * The log as the readers of a shard see it: it ends where the records begin that are not decided yet. Where backfills lie in
 * partitions of their own, these have an empty live stream: a reader of it passes the records of the backfill, and must hear
 * of them, or its position would stay behind for ever.
 */
export function logOfShard<Log extends ClusterLog>(log: Log, shard: number, decided: DecidedShard): Log {
  const own = new Set(partitionsOfShard(shard, log))
  const end: EventLog['end'] = (partition) => (own.has(partition) ? decided.end(partition) : log.end(partition))
  const onCommit: EventLog['onCommit'] = (listener) =>
    decided.onMove((partition) => {
      if (partition < log.homes) return listener(partition, 'live')
      listener(partition, 'backfill')
      listener(partition, 'live')
    })
  const read: EventLog['read'] = async (partition, stream, from, maxBytes) => {
    const last = end(partition)
    if (from >= last) return { records: [], next: from }
    const result = await log.read(partition, stream, from, maxBytes)
    const isWhole = (result.records.at(-1)?.offset ?? 0) < last
    const records = isWhole ? result.records : result.records.filter(({ offset }) => offset < last)
    return { ...result, records, next: Math.min(result.next, last) }
  }
  const tally: EventLog['tally'] = (partition, stream, { from, to }) =>
    log.tally(partition, stream, { from, to: Math.min(to, end(partition)) })
  const changed = { end, onCommit, read, tally }
  return new Proxy(log, {
    get(target, name) {
      if (Object.hasOwn(changed, name)) return changed[name as keyof typeof changed]
      const value = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
