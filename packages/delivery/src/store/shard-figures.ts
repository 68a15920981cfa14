import type { Scope } from './dead-letter-store.ts'

/** What the owner of a shard tells the other processes of it. */
export interface ShardFigures<State extends object = object> {
  readonly shard: number
  readonly destinations: readonly DestinationFigures<State>[]
}

export interface DestinationFigures<State extends object = object> {
  readonly destinationId: string
  /** JSON; the reader of the states gives it its meaning. */
  readonly state: State
  /** Events without final outcome, by source, without dead letters; only sources that have some. */
  readonly waiting: readonly (readonly [sourceId: string, events: number])[]
}

/**
 * Figures that the owners of shards write every 2 s, so that another process shows and sums them without a call to them.
 *
 * @see contracts/cluster.md §6 [K18]
 */
export interface FigureStore {
  /**
   * Replaces the figures of these shards. One call at a time.
   *
   * @throws FencedError if this process does not own all of them; then nothing was written.
   */
  write(figures: readonly ShardFigures[]): Promise<void>
  /**
   * Waiting events of a destination, of a source, or of a source at a destination, over all shards. The last figures of a
   * shard count until its next owner writes: when an owner ends, its events still wait.
   */
  waiting(scope: Scope): Promise<number>
  /** Parallel to the ids: the states in the shards that have a living owner. The state of a process that ended is no state. */
  states<State extends object>(destinationIds: readonly string[]): Promise<State[][]>
  /**
   * By destination: the number of living owners of shards in which events wait for it.
   *
   * @param except an owner that does not count.
   */
  owners(except?: string): Promise<Map<string, number>>
}
