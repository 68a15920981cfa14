import { type CountedLog, streamOf } from './counted-log.ts'
import type { CountedPlace } from './counter-calls.ts'

/** A partition that cannot be read rests for this long. */
const REST_MS = 1_000
/** One whose records are not decided yet is looked at again after this time. */
const DEFER_MS = 100

/** Up to where each partition is counted, and which one is next: backfills wait while live events do. */
export class Uncounted {
  readonly #log: Pick<CountedLog, 'partitions' | 'homes' | 'end'>
  readonly #positions: number[]
  readonly #deferred = new Map<number, number>()
  readonly #troubles = new Map<number, { readonly cause: string; readonly since: number; readonly until: number }>()
  #last = -1

  constructor(log: Pick<CountedLog, 'partitions' | 'homes' | 'end'>, places: readonly CountedPlace[]) {
    this.#log = log
    this.#positions = Array.from({ length: log.partitions }, () => 0)
    for (const { partition, position } of places) this.#positions[partition] = position
  }

  position(partition: number): number {
    return this.#positions[partition]!
  }

  /** The partition to read next, in turn; undefined: there is nothing to read at the moment. */
  next(now: number): number | undefined {
    const { partitions, homes } = this.#log
    return this.#nextOf(0, homes, now) ?? this.#nextOf(homes, partitions, now)
  }

  counted(partition: number, to: number): void {
    this.#troubles.delete(partition)
    this.#deferred.delete(partition)
    this.#positions[partition] = to
  }

  /** Everything is counted anew. */
  restart(): void {
    this.#troubles.clear()
    this.#deferred.clear()
    this.#positions.fill(0)
  }

  failed(partition: number, cause: string, now: number): void {
    const { since = now } = this.#troubles.get(partition) ?? {}
    this.#troubles.set(partition, { cause, since, until: now + REST_MS })
  }

  /** Nothing of the partition can be counted yet. */
  defer(partition: number, now: number): void {
    this.#troubles.delete(partition)
    this.#deferred.set(partition, now + DEFER_MS)
  }

  /** Ms until a partition that was deferred is looked at again. */
  deferredMs(now: number): number {
    return Math.max(0, Math.min(Number.POSITIVE_INFINITY, ...this.#deferred.values()) - now)
  }

  /** Why a partition cannot be counted, of the one that has rested for longest. */
  trouble(): { readonly partition: number; readonly cause: string; readonly since: number } | undefined {
    const longest = [...this.#troubles].sort(([, a], [, b]) => a.since - b.since)[0]
    return longest && { partition: longest[0], ...longest[1] }
  }

  /** Whether everything before these ends is counted, but for partitions that cannot be. */
  isPast(ends: readonly number[]): boolean {
    return ends.every((end, partition) => this.#positions[partition]! >= end || this.#troubles.has(partition))
  }

  /** Partitions with events that are not counted. */
  behind(): number[] {
    const { partitions } = this.#log
    return Array.from({ length: partitions }, (_, partition) => partition).filter((each) => this.#isBehind(each))
  }

  #nextOf(from: number, to: number, now: number): number | undefined {
    const count = to - from
    const start = this.#last >= from && this.#last < to ? this.#last - from + 1 : 0
    for (let i = 0; i < count; i++) {
      const partition = from + ((start + i) % count)
      const until = Math.max(this.#troubles.get(partition)?.until ?? 0, this.#deferred.get(partition) ?? 0)
      if (!this.#isBehind(partition) || now < until) continue
      this.#deferred.delete(partition)
      this.#last = partition
      return partition
    }
    return undefined
  }

  #isBehind(partition: number): boolean {
    return this.#positions[partition]! < this.#log.end(partition)
  }
}

/** Age of the oldest event that is not counted, in seconds; 0 when all are. */
export async function lagSeconds(
  log: Pick<CountedLog, 'homes' | 'read'>,
  uncounted: Pick<Uncounted, 'behind' | 'position'>,
  now: number,
): Promise<number> {
  const times = await Promise.all(
    uncounted.behind().map(async (partition) => {
      const { records } = await log.read(partition, streamOf(log, partition), uncounted.position(partition), 1)
      return records[0]?.header.acceptedAt ?? Number.POSITIVE_INFINITY
    }),
  )
  return Math.max(0, now - Math.min(Number.POSITIVE_INFINITY, ...times)) / 1_000
}
