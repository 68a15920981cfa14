import type { DuplicateStore, KeyPart, ShardDecisions } from '@millrace/delivery'
import { duplicateBytes, MAX_DEDUP_WINDOW_MS, type Offset } from '@millrace/log'
import {
  KEY_KINDS,
  type KeyEntries,
  type KeyKind,
  type KeyMemory,
  keyCount,
  MAX_DEDUP_ENTRIES,
  ShardKeys,
} from '@millrace/log/dedup'
import { decodeHashes } from '@millrace/protocol/record'
import type { Clock, Logger, Timer } from '@millrace/std'
import { type ClusterLog, partitionsOfShard } from '../cluster-log.ts'
import type { Decisions, DecisionWriter } from './decision-writer.ts'
import { MAX_MARKS, type OwnedMarks, PartitionMarks } from './owned-marks.ts'

const READ_BYTES = 1024 * 1024
const RETRY_MS = 1_000
/** Without Postgres, a shard decides until it has so many keys that are not stored. */
const MAX_UNSTORED_BYTES = 1024 * 1024
/** A stall of this length is shown in /health (contracts/ingest.md §8 [D134]). */
const STALLED_MS = 60_000
/** Twice as far back as needed, in case clocks differ. */
const RESTORED_MS = 2 * MAX_DEDUP_WINDOW_MS
/** Parts of keys. */
const RESTORED_TOGETHER = 200

export interface ShardDedupOptions {
  readonly shard: number
  readonly log: ClusterLog
  readonly store: DuplicateStore
  readonly writer: DecisionWriter
  readonly memory: KeyMemory
  readonly marks: OwnedMarks
  readonly clock: Clock
  readonly logger: Logger
  /** Called once for each record with duplicates. */
  readonly onDuplicates: (sourceId: string, acceptedAt: number, count: number) => void
}

interface PartitionState {
  readonly partition: number
  readonly marks: PartitionMarks
  /** Up to here the records are decided; */
  reached: Offset
  /** up to here readers may pass them; */
  released: Offset
  /** up to here Postgres has the decisions; undefined: it has none yet, so this owner also stores where it begins. */
  stored: Offset | undefined
}

interface FoundDuplicates {
  readonly partition: number
  readonly offset: Offset
  readonly indexes: Uint8Array
  readonly sourceId: string
  readonly acceptedAt: number
}

/**
 * Decides for a shard, in the order of the log, which events are duplicates. Readers see a record once it is decided, and a
 * record with duplicates once that is stored: so no position can pass a duplicate that the next owner takes for the first.
 * What was decided without duplicates is stored once a second; the next owner decides the rest again, with the same result.
 *
 * @see contracts/cluster.md §3 [K17], decision 0111
 */
export class ShardDedup implements Decisions {
  readonly #options: ShardDedupOptions
  readonly #keys: ShardKeys
  readonly #partitions: readonly PartitionState[]
  readonly #listeners = new Set<(partition: number) => void>()
  readonly #stopListening: () => void
  #found: FoundDuplicates[] = []
  /** What a write under way holds. */
  #taken: { readonly found: readonly FoundDuplicates[]; readonly reached: readonly Offset[] } | undefined
  #turn: Promise<void> | undefined
  #isWanted = false
  #retry: Timer | undefined
  #stalled: { readonly since: number; readonly cause: string } | undefined
  #isEnding = false
  #isClosed = false
  #closing: Promise<void> | undefined

  /** Goes on where the last owner stopped. */
  static async open(options: ShardDedupOptions): Promise<ShardDedup> {
    const { shard, log, store, clock } = options
    const decided = await store.decidedTo()
    const stateOf = async (partition: number): Promise<PartitionState> => {
      // Without an earlier owner: older events are in no window.
      const from = decided.get(partition) ?? (await log.storedFrom(partition, clock.now() - MAX_DEDUP_WINDOW_MS))
      const marks = new PartitionMarks(await store.newest({ partition, limit: MAX_MARKS }))
      return { partition, marks, reached: from, released: from, stored: decided.get(partition) }
    }
    const partitions = await Promise.all(partitionsOfShard(shard, log).map(stateOf))
    return new ShardDedup(options, await restoredKeys(options), partitions)
  }

  private constructor(options: ShardDedupOptions, keys: ShardKeys, partitions: readonly PartitionState[]) {
    this.#options = options
    this.#keys = keys
    this.#partitions = partitions
    const { shard, log, writer, marks } = options
    for (const each of partitions) marks.set(each.partition, each.marks)
    writer.add(shard, this)
    this.#stopListening = log.onCommit((partition) => {
      if (this.#state(partition) !== undefined) this.#wake()
    })
    this.#wake()
  }

  /** Where the records that readers may not pass begin. */
  end(partition: number): Offset {
    return this.#state(partition)!.released
  }

  /** Calls back when the end has moved. @returns a function that ends it. */
  onMove(listener: (partition: number) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves when everything is decided that the log held at the call. @throws Error when the shard is being given back. */
  async caughtUp(partition: number): Promise<void> {
    const end = this.#options.log.end(partition)
    while (!this.#isClosed && this.end(partition) < end) {
      if (this.#isEnding) throw new Error(`shard ${this.#options.shard} is being given back`)
      await new Promise<void>((resolve) => {
        const stop = this.onMove(() => {
          stop()
          resolve()
        })
      })
    }
  }

  /** Why it stands still; undefined if it does not. */
  trouble(): string | undefined {
    if (this.#stalled === undefined) return undefined
    const { since, cause } = this.#stalled
    const isLong = this.#options.clock.monotonic() - since >= STALLED_MS
    return isLong ? `shard ${this.#options.shard} could not look for duplicates for 60 s: ${cause}` : undefined
  }

  take(): ShardDecisions | undefined {
    if (this.#partitions.every(({ reached, stored }) => reached === stored)) return undefined
    const found = this.#found
    this.#found = []
    this.#taken = { found, reached: this.#partitions.map(({ reached }) => reached) }
    return {
      shard: this.#options.shard,
      positions: this.#partitions.map(({ partition, reached }) => [partition, reached]),
      duplicates: found.map(({ partition, offset, indexes }) => ({ partition, offset, indexes })),
      keys: this.#keys.takeUnstored(),
    }
  }

  written(): void {
    const { found, reached } = this.#taken!
    this.#taken = undefined
    for (const [i, state] of this.#partitions.entries()) state.stored = reached[i]!
    for (const { partition, offset, indexes, sourceId, acceptedAt } of found) {
      this.#state(partition)!.marks.add(offset, indexes)
      this.#options.onDuplicates(sourceId, acceptedAt, indexes.length / 2)
    }
  }

  putBack({ keys }: ShardDecisions): void {
    this.#found = [...this.#taken!.found, ...this.#found]
    this.#taken = undefined
    this.#keys.putBack(keys.map(keyEntries))
  }

  /** Call it before the shard is given back. Every `caughtUp` that waits, and every later one that would, throws. */
  endWaiting(): void {
    this.#isEnding = true
    this.#tellAll()
  }

  /** Ends. @param isLost another process may own the shard: nothing more is written. */
  close({ isLost }: { readonly isLost: boolean }): Promise<void> {
    if (isLost) this.#options.writer.remove(this.#options.shard, this)
    this.#closing ??= this.#close(isLost)
    return this.#closing
  }

  async #close(isLost: boolean): Promise<void> {
    this.#isClosed = true
    const { shard, writer, marks } = this.#options
    this.#stopListening()
    this.#retry?.cancel()
    await this.#turn
    // What this owner decided must not be written under the lease of the next claim.
    if (isLost) await writer.settled()
    else await writer.flush().catch((error: Error) => this.#warn(error))
    writer.remove(shard, this)
    for (const { partition } of this.#partitions) marks.set(partition, undefined)
    this.#keys.drop()
    this.#tellAll()
  }

  #tellAll(): void {
    for (const listener of [...this.#listeners]) for (const { partition } of this.#partitions) listener(partition)
  }

  #state(partition: number): PartitionState | undefined {
    return this.#partitions.find((each) => each.partition === partition)
  }

  #wake(): void {
    this.#isWanted = true
    if (this.#turn !== undefined || this.#isClosed) return
    this.#turn = this.#decideAll()
      .then(
        () => {
          this.#stalled = undefined
        },
        (error: Error) => this.#fail(error),
      )
      .finally(() => {
        this.#turn = undefined
        if (this.#isWanted && this.#stalled === undefined) this.#wake()
      })
  }

  async #decideAll(): Promise<void> {
    while (this.#isWanted && !this.#isClosed) {
      this.#isWanted = false
      for (const state of this.#partitions) {
        await this.#release()
        if (await this.#decide(state)) this.#isWanted = true
      }
      await this.#release()
    }
  }

  /** @returns whether there was something to decide. */
  async #decide(state: PartitionState): Promise<boolean> {
    const { log } = this.#options
    if (state.reached >= log.end(state.partition)) return false
    const { records, next } = await log.readRules(state.partition, state.reached, READ_BYTES)
    if (this.#isClosed || next <= state.reached) return false
    for (const record of records) {
      const indexes = this.#keys.decide(record.offset, record)
      if (indexes.length > 0) {
        const { sourceId, acceptedAt } = decodeHashes(record.bytes)
        const place = { partition: state.partition, offset: record.offset }
        this.#found.push({ ...place, indexes: duplicateBytes(indexes), sourceId, acceptedAt })
      }
      // Nothing is decided twice, even if a later record cannot be read.
      state.reached = record.offset + 1
    }
    state.reached = next
    return true
  }

  /** Lets readers pass what is decided; duplicates are stored first. */
  async #release(): Promise<void> {
    const { writer } = this.#options
    if (this.#partitions.every(({ reached, released }) => reached === released)) return
    const reached = this.#partitions.map((state) => state.reached)
    if (this.#holdsFound || this.#keys.unstoredBytes > MAX_UNSTORED_BYTES) await writer.flush()
    // The fence may have refused the write: then the shard is lost.
    if (this.#isClosed || this.#holdsFound) return
    for (const [i, state] of this.#partitions.entries()) {
      if (state.released === reached[i]) continue
      state.released = reached[i]!
      for (const listener of [...this.#listeners]) listener(state.partition)
    }
  }

  /** Whether duplicates are not stored yet. */
  get #holdsFound(): boolean {
    return this.#found.length > 0 || (this.#taken?.found.length ?? 0) > 0
  }

  #fail(error: Error): void {
    if (this.#isClosed) return
    this.#warn(error)
    const { clock } = this.#options
    this.#stalled = { since: this.#stalled?.since ?? clock.monotonic(), cause: error.message }
    this.#retry = clock.setTimer(() => this.#wake(), RETRY_MS)
  }

  #warn(error: Error): void {
    const { logger, shard } = this.#options
    logger.warn({ shard, cause: error.message }, 'duplicates cannot be decided; retrying')
  }
}

/** The newest stored keys, as many as fit into memory. In between other work goes on: leases must be renewed. */
async function restoredKeys({ shard, store, memory, clock }: ShardDedupOptions): Promise<ShardKeys> {
  const found: KeyEntries[] = []
  let count = 0
  let ofWindows = 0
  for await (const rows of store.keys({ shard, since: clock.now() - RESTORED_MS })) {
    for (const row of rows) {
      const part = keyEntries(row)
      found.push(part)
      count += keyCount(part)
      if (part.kind === 'window') ofWindows += keyCount(part)
    }
    if (count >= MAX_DEDUP_ENTRIES) break
  }
  const keys = new ShardKeys(memory, ofWindows)
  for (const [i, part] of found.reverse().entries()) {
    keys.restore(part)
    if (i % RESTORED_TOGETHER > 0) continue
    keys.index()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return keys
}

function keyEntries({ kind, lastAt, entries }: KeyPart): KeyEntries {
  const known = KEY_KINDS.find((each): each is KeyKind => each === kind)
  if (known === undefined) throw new Error(`deduplication keys have unknown kind ${kind}`)
  return { kind: known, lastAt, entries }
}
