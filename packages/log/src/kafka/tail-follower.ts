import type { Clock, Timer } from '@millrace/std'
import type { Offset } from '../event-log.ts'
import { ChunkCache } from './chunk-cache.ts'
import type { KafkaConnections } from './connections.ts'
import { type Fetched, fetchRecords } from './fetch.ts'
import { CODES, codeName } from './kafka-errors.ts'
import type { PartitionPlaces } from './partition-places.ts'

/** How long the broker holds a fetch without records: an idle process asks each leader twice a second. */
const MAX_WAIT_MS = 500
const MAX_FETCH_BYTES = 8 * 1024 * 1024
const MAX_PARTITION_BYTES = 1024 * 1024
const RETRY_MS = 250

interface Followed {
  /** Where the next fetch begins. */
  position: Offset
  /** How many follow it. */
  count: number
  /** Called after each fetch that moved the position. */
  readonly waiting: Set<() => void>
}

export interface FollowTrouble {
  readonly cause: string
  readonly forMs: number
}

export interface TailFollowerOptions {
  /** For this follower only: its fetches wait at the broker. */
  readonly connections: KafkaConnections
  readonly places: PartitionPlaces
  readonly clock: Clock
  readonly cacheBytes: number
  /** Called after each answer of a leader, once the records are in `cache`. */
  readonly onFetched: (fetched: Fetched) => void
  /** The end of a partition, where following begins. */
  readonly end: (partition: number) => Promise<Offset>
}

/**
 * Reads new records of partitions once for all readers of this process, with one long fetch per leader, and keeps them in
 * `cache`.
 */
export class TailFollower {
  readonly cache: ChunkCache
  readonly #options: TailFollowerOptions
  readonly #followed = new Map<number, Followed>()
  /** Leaders that are being asked. */
  readonly #asked = new Set<number>()
  #retryTimer: Timer | undefined
  #trouble: { readonly cause: string; readonly since: number } | undefined
  #turn = 0
  #isClosed = false

  constructor(options: TailFollowerOptions) {
    this.#options = options
    this.cache = new ChunkCache(options.cacheBytes)
  }

  /** Why new records cannot be read, and for how long; undefined: they can. */
  get trouble(): FollowTrouble | undefined {
    if (this.#trouble === undefined) return undefined
    const { cause, since } = this.#trouble
    return { cause, forMs: this.#options.clock.monotonic() - since }
  }

  /** Begins at the end of the partition, unless it is followed already. @returns a function that ends it. */
  async follow(partition: number): Promise<() => void> {
    if (!this.#followed.has(partition)) {
      const position = await this.#options.end(partition)
      if (!this.#followed.has(partition)) this.#followed.set(partition, { position, count: 0, waiting: new Set() })
    }
    const followed = this.#followed.get(partition)!
    followed.count++
    this.#askLeaders()
    let isFollowing = true
    return () => {
      if (!isFollowing) return
      isFollowing = false
      followed.count--
      if (followed.count === 0) this.#leave(partition, followed)
    }
  }

  /** Everything before it was fetched; undefined: the partition is not followed. */
  position(partition: number): Offset | undefined {
    return this.#followed.get(partition)?.position
  }

  /** Resolves once the position has moved, or is not followed any more. */
  moved(partition: number, withinMs: number): Promise<boolean> {
    const followed = this.#followed.get(partition)
    if (followed === undefined || this.#isClosed) return Promise.resolve(true)
    return new Promise((resolve) => {
      const end = (hasMoved: boolean) => {
        timer.cancel()
        followed.waiting.delete(onMove)
        resolve(hasMoved)
      }
      const onMove = () => end(true)
      const timer = this.#options.clock.setTimer(() => end(false), withinMs)
      followed.waiting.add(onMove)
    })
  }

  close(): void {
    this.#isClosed = true
    this.#retryTimer?.cancel()
    for (const [partition, followed] of [...this.#followed]) this.#leave(partition, followed)
    this.#options.connections.close()
  }

  #leave(partition: number, followed: Followed): void {
    this.#followed.delete(partition)
    this.cache.drop(partition)
    for (const onMove of [...followed.waiting]) onMove()
  }

  /** One loop for each leader of a followed partition. */
  #askLeaders(): void {
    if (this.#isClosed) return
    let isLeaderMissing = false
    for (const partition of this.#followed.keys()) {
      const leader = this.#leader(partition)
      if (leader === undefined) isLeaderMissing = true
      else if (!this.#asked.has(leader)) void this.#ask(leader)
    }
    if (isLeaderMissing) this.#planRetry()
  }

  async #ask(leader: number): Promise<void> {
    this.#asked.add(leader)
    try {
      while (!this.#isClosed) {
        const partitions = [...this.#followed.keys()].filter((partition) => this.#leader(partition) === leader)
        if (partitions.length === 0) break
        if (!(await this.#fetch(leader, partitions))) break
      }
    } catch (error) {
      this.#fail((error as Error).message)
    } finally {
      this.#asked.delete(leader)
    }
  }

  /** @returns whether every partition was answered. */
  async #fetch(leader: number, partitions: readonly number[]): Promise<boolean> {
    const { connections, places, onFetched } = this.#options
    // A broker fills its answer in the order of the request: each partition is first now and then.
    const start = this.#turn++ % partitions.length
    const wanted = [...partitions.slice(start), ...partitions.slice(0, start)].map((partition) => {
      return { partition, from: this.#followed.get(partition)!.position, maxBytes: MAX_PARTITION_BYTES }
    })
    const limits = { maxWaitMs: MAX_WAIT_MS, maxBytes: MAX_FETCH_BYTES }
    const answers = await fetchRecords(connections, places, leader, wanted, limits)
    let refused: Fetched | undefined
    for (const fetched of answers) {
      const followed = this.#followed.get(fetched.partition)
      if (followed === undefined || this.#isClosed) continue
      if (fetched.code !== 0) {
        refused = fetched
        if (fetched.code === CODES.offsetOutOfRange) await this.#beginAnew(fetched.partition, followed)
        continue
      }
      const { chunk } = fetched
      const hasMoved = chunk !== undefined && chunk.next > followed.position
      if (hasMoved) {
        this.cache.add(fetched.partition, chunk)
        followed.position = chunk.next
      }
      onFetched(fetched)
      if (hasMoved) for (const onMove of [...followed.waiting]) onMove()
    }
    if (refused === undefined) {
      this.#trouble = undefined
      return true
    }
    this.#fail(`partition ${refused.partition}: ${codeName(refused.code)}`)
    return false
  }

  /** Retention passed the position, or the log lost its newest records: those who read find out which. */
  async #beginAnew(partition: number, followed: Followed): Promise<void> {
    followed.position = await this.#options.end(partition)
    this.cache.drop(partition)
    for (const onMove of [...followed.waiting]) onMove()
  }

  #fail(cause: string): void {
    if (this.#isClosed) return
    this.#note(cause)
    this.#planRetry()
  }

  #note(cause: string): void {
    this.#trouble = { cause, since: this.#trouble?.since ?? this.#options.clock.monotonic() }
  }

  /** The leader may have moved: looks again, then goes on. */
  #planRetry(): void {
    if (this.#retryTimer !== undefined || this.#isClosed) return
    this.#retryTimer = this.#options.clock.setTimer(() => {
      this.#options.connections
        .refresh(this.#options.places.topics)
        .catch((error: Error) => this.#note(error.message))
        .finally(() => {
          this.#retryTimer = undefined
          this.#askLeaders()
        })
    }, RETRY_MS)
  }

  #leader(partition: number): number | undefined {
    const { topic, index } = this.#options.places.placeOf(partition)
    return this.#options.connections.leader(topic, index)
  }
}
