import type { DatabaseSync } from 'node:sqlite'
import type { RequestHistory } from '../../../lane/history/request-history.ts'
import type { EventPlace } from '../../../lane/queue/event-place.ts'
import type { Scope } from '../../dead-letter-store.ts'
import type { JobPartitions } from '../../job-store.ts'
import type { EventPlaceKey, OutcomeStore, PartitionOffset, Recorded, WaitingPlace } from '../../outcome-store.ts'
import {
  type BlockWrite,
  JOURNEY_OUTCOMES,
  type JourneyWrite,
  type PositionWrite,
  type ReplacedRow,
} from '../../outcomes/flush.ts'
import { ENTRY_BYTES, readEntry } from '../../outcomes/outcome-block.ts'
import { IN_PARTITIONS, isBefore, pairsOf } from '../in-partitions.ts'
import type { LetterRanges } from '../letters/letter-ranges.ts'
import type { StoredNames } from '../stored-names.ts'
import { writable } from '../writable.ts'
import type { VersionTable } from './version-table.ts'

/** Smaller blocks are extended: at low traffic an event does not cost a row. */
const FULL_BLOCK_ENTRIES = 50
/** The columns of a wait that a restart needs; the texts of earlier attempts stay on disk until the event is due. */
const WITHOUT_REQUESTS = `destination, source, partition, stream, offset, idx, outcome, reason, accepted_at, size_bytes,
  user_key, anonymous_key, attempts, delivered_requests, first_attempt_at, due_at, NULL AS requests, revision, changed_at,
  replay`

/** Positions, blocks of plain outcomes, and journeys: restarts and traces read them. */
export class OutcomeTables {
  readonly #names: StoredNames
  readonly #versions: VersionTable
  readonly #ranges: LetterRanges
  readonly #statements
  /** The last block of each destination, partition and revision while it is small: its row and number of entries. */
  #openBlocks = new Map<string, { id: number; entries: number }>()

  constructor(db: DatabaseSync, names: StoredNames, versions: VersionTable, ranges: LetterRanges) {
    this.#names = names
    this.#versions = versions
    this.#ranges = ranges
    this.#statements = {
      insertBlock: db.prepare(
        `INSERT INTO blocks (destination, partition, revision, replay, first_offset, last_offset, last_at, entries)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
      ),
      growBlock: db.prepare(
        `UPDATE blocks SET first_offset = min(first_offset, ?), last_offset = max(last_offset, ?),
           last_at = max(last_at, ?), entries = CAST(entries || ? AS BLOB)
         WHERE id = ?`,
      ),
      blocksAt: db.prepare(
        `SELECT revision, replay, entries FROM blocks
         WHERE destination = ? AND partition = ? AND last_offset >= ? AND first_offset <= ? AND replay = 0`,
      ),
      replayBlocksAt: db.prepare(
        `SELECT revision, replay, entries FROM blocks
         WHERE destination = ? AND partition = ? AND last_offset >= ? AND first_offset <= ? AND replay > 0`,
      ),
      blocksFrom: db.prepare(
        'SELECT entries FROM blocks WHERE destination = ? AND partition = ? AND last_offset >= ? AND replay = 0',
      ),
      putJourney: db.prepare(
        `INSERT INTO journeys (destination, source, partition, stream, offset, idx, outcome, reason, accepted_at, size_bytes,
           user_key, anonymous_key, attempts, delivered_requests, first_attempt_at, due_at, requests, revision, changed_at,
           replay)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (destination, partition, offset, idx, replay) DO UPDATE SET
           outcome = excluded.outcome, reason = excluded.reason, attempts = excluded.attempts,
           delivered_requests = excluded.delivered_requests, first_attempt_at = excluded.first_attempt_at,
           due_at = excluded.due_at, requests = coalesce(excluded.requests, requests), revision = excluded.revision,
           changed_at = excluded.changed_at`,
      ),
      removeJourney: db.prepare(
        'DELETE FROM journeys WHERE destination = ? AND partition = ? AND offset = ? AND idx = ? AND replay = ?',
      ),
      journeysAt: db.prepare(
        'SELECT * FROM journeys WHERE destination = ? AND partition = ? AND offset = ? AND idx = ? ORDER BY id',
      ),
      waitAt: db.prepare(
        `SELECT 1 FROM journeys
         WHERE destination = ? AND partition = ? AND offset = ? AND idx = ? AND replay = 0 AND outcome = 'waiting'`,
      ),
      waiting: db.prepare(
        `SELECT ${WITHOUT_REQUESTS} FROM journeys
         WHERE destination = ? AND outcome = 'waiting' AND replay = 0 AND ${IN_PARTITIONS} ORDER BY offset, idx`,
      ),
      replaying: db.prepare(
        `SELECT ${WITHOUT_REQUESTS} FROM journeys WHERE outcome = 'waiting' AND replay > 0 AND replay = ?
           AND ${IN_PARTITIONS} ORDER BY destination, offset, idx`,
      ),
      dropWaiting: db.prepare(
        `DELETE FROM journeys WHERE outcome = 'waiting' AND (?1 IS NULL OR destination = ?1) AND (?2 IS NULL OR source = ?2)
           AND ${IN_PARTITIONS} AND ${isBefore('offset')}`,
      ),
      dropReplaying: db.prepare(
        `DELETE FROM journeys WHERE outcome = 'waiting' AND replay > 0 AND replay = ? AND ${IN_PARTITIONS}`,
      ),
      dropForgotten: db.prepare(
        `DELETE FROM journeys WHERE outcome = 'waiting' AND replay > 0 AND ${IN_PARTITIONS} AND
           replay NOT IN (SELECT names.id FROM names JOIN jobs ON jobs.id = names.name WHERE finished_at IS NULL)`,
      ),
      journeysFrom: db.prepare(
        `SELECT offset, idx FROM journeys
         WHERE destination = ? AND partition = ? AND offset >= ? AND outcome <> 'waiting' AND replay = 0
         UNION ALL SELECT offset, idx FROM dead_letters WHERE destination = ? AND partition = ? AND offset >= ?`,
      ),
      requestsAt: db.prepare(
        `SELECT requests FROM journeys WHERE destination = ? AND partition = ? AND offset = ? AND idx = ? AND replay = ?`,
      ),
      putPosition: db.prepare(
        'INSERT OR REPLACE INTO positions (reader, partition, stream, offset, idx) VALUES (?, ?, ?, ?, ?)',
      ),
      positions: db.prepare('SELECT * FROM positions'),
      positionsOf: db.prepare(
        'SELECT partition, min(offset) AS offset FROM positions WHERE reader = ? GROUP BY partition',
      ),
    }
  }

  writeBlock(block: BlockWrite): void {
    const destination = this.#names.number(block.destinationId)
    const replay = this.#replay(block.replayId)
    const key = `${destination} ${block.partition} ${block.revision} ${replay}`
    const entries = block.entries.length / ENTRY_BYTES
    const open = this.#openBlocks.get(key)
    if (open !== undefined && open.entries + entries <= FULL_BLOCK_ENTRIES) {
      this.#statements.growBlock.run(block.firstOffset, block.lastOffset, block.lastAt, block.entries, open.id)
      open.entries += entries
      return
    }
    const { revision, firstOffset, lastOffset, lastAt } = block
    const columns = [destination, block.partition, revision, replay, firstOffset, lastOffset, lastAt]
    const { id } = this.#statements.insertBlock.get(...writable(columns), block.entries) as { id: number }
    this.#openBlocks.set(key, { id, entries })
  }

  /** Rows may be gone (retention, a rolled-back transaction): new outcomes begin new blocks. */
  closeBlocks(): void {
    this.#openBlocks = new Map()
  }

  writeJourney(journey: JourneyWrite): void {
    if (!JOURNEY_OUTCOMES.includes(journey.outcome)) throw new TypeError('a journey lacks its outcome')
    const { partition, stream, offset, index, outcome, reason, acceptedAt, sizeBytes, userKey, anonymousKey } = journey
    const { attempts, deliveredRequests, firstAttemptAt, dueAt, requests, revision, at } = journey
    const columns = [
      this.#names.number(journey.destinationId),
      this.#names.number(journey.sourceId),
      ...[partition, stream, offset, index, outcome, reason, acceptedAt, sizeBytes, userKey, anonymousKey],
      ...[attempts, deliveredRequests, firstAttemptAt, dueAt === null ? null : Math.round(dueAt)],
      ...[requests === null ? null : JSON.stringify(requests), revision, at],
      this.#replay(journey.replayId),
    ]
    this.#statements.putJourney.run(...writable(columns))
  }

  removeJourney({ destinationId, partition, offset, index, replayId }: ReplacedRow): void {
    const destination = this.#names.number(destinationId)
    this.#statements.removeJourney.run(destination, partition, offset, index, this.#replay(replayId))
  }

  /** The stored attempts of a waiting event. */
  requestsOf(destinationId: string, { partition, offset, index, replayId }: WaitingPlace): RequestHistory[] {
    const destination = this.#names.number(destinationId)
    const row = this.#statements.requestsAt.get(destination, partition, offset, index, this.#replay(replayId))
    const requests = (row?.['requests'] ?? null) as string | null
    return requests === null ? [] : JSON.parse(requests)
  }

  /** Whether the first delivery of an event waits on disk. */
  isWaiting(destinationId: string, { partition, offset, index }: EventPlace): boolean {
    return this.#statements.waitAt.get(this.#names.number(destinationId), partition, offset, index) !== undefined
  }

  /** Waits of a replay of the log, by destination, ordered by place. */
  replaying({ jobId, partitions }: JobPartitions): JourneyWrite[] {
    const rows = this.#statements.replaying.all(this.#names.find(jobId) ?? -1, JSON.stringify(partitions))
    return (rows as unknown as JourneyRow[]).map((row) => this.#journey(row))
  }

  dropReplaying(replayId: string, partitions: readonly number[]): void {
    this.#statements.dropReplaying.run(this.#names.find(replayId) ?? -1, JSON.stringify(partitions))
  }

  /** Waits of replays that have no unfinished job. */
  dropForgotten(partitions: readonly number[]): void {
    this.#statements.dropForgotten.run(JSON.stringify(partitions))
  }

  /** Of a destination, of a source, or of both. */
  dropWaiting(
    { destinationId, sourceId }: Scope,
    partitions: readonly number[],
    keptFrom: readonly PartitionOffset[],
  ): void {
    const destination = this.#names.sought(destinationId) ?? null
    const source = this.#names.sought(sourceId) ?? null
    this.#statements.dropWaiting.run(destination, source, JSON.stringify(partitions), pairsOf(keptFrom))
  }

  writePosition({ reader, partition, stream, position }: PositionWrite): void {
    const { offset, index } = position
    this.#statements.putPosition.run(...writable([this.#names.number(reader), partition, stream, offset, index]))
  }

  positions(): PositionWrite[] {
    return (this.#statements.positions.all() as unknown as PositionRow[]).map((row) => ({
      reader: this.#names.text(row.reader),
      partition: row.partition,
      stream: row.stream,
      position: { offset: row.offset, index: row.idx },
    }))
  }

  /** @see OutcomeStore.resume */
  resume({ destinationId, partitions }: Parameters<OutcomeStore['resume']>[0]): {
    waiting: JourneyWrite[]
    done: EventPlaceKey[]
  } {
    const destination = this.#names.number(destinationId)
    const rows = this.#statements.waiting.all(destination, JSON.stringify(partitions))
    const waiting = (rows as unknown as JourneyRow[]).map((row) => this.#journey(row))
    const done: EventPlaceKey[] = []
    for (const start of this.#statements.positionsOf.all(destination)) {
      const { partition, offset } = start as { partition: number; offset: number }
      if (!partitions.includes(partition)) continue
      for (const { entries } of this.#statements.blocksFrom.iterate(destination, partition, offset)) {
        const buffer = asBuffer(entries as Uint8Array)
        for (let at = 0; at < buffer.length; at += ENTRY_BYTES) {
          const entry = readEntry(buffer, at)
          if (entry.offset >= offset) done.push([partition, entry.offset, entry.index])
        }
      }
      const rows = this.#statements.journeysFrom.iterate(destination, partition, offset, destination, partition, offset)
      for (const row of rows) done.push([partition, row['offset'] as number, row['idx'] as number])
      const packed = this.#ranges.between(destination, partition, offset, Number.MAX_SAFE_INTEGER)
      for (const letter of packed) done.push([partition, letter.offset, letter.idx])
    }
    return { waiting, done }
  }

  /**
   * The outcomes of an event in a destination's blocks and journeys: at most one of its first delivery, and one of each
   * replay.
   */
  recorded(destination: number, partition: number, offset: number, index: number): RecordedDelivery[] {
    const found = new Map<string | null, RecordedDelivery>()
    for (const row of this.#statements.journeysAt.all(destination, partition, offset, index)) {
      const journey = this.#journey(row as unknown as JourneyRow)
      const versionIds = this.#versions.of(destination, journey.revision)
      found.set(journey.replayId, { kind: 'journey', ...journey, versionIds })
    }
    const { blocksAt, replayBlocksAt } = this.#statements
    if (!found.has(null)) {
      for (const block of blocksAt.iterate(destination, partition, offset, offset)) {
        const plain = this.#plain(destination, block as unknown as BlockRow, offset, index)
        if (plain === undefined) continue
        found.set(null, plain)
        break
      }
    }
    for (const block of replayBlocksAt.iterate(destination, partition, offset, offset)) {
      const plain = this.#plain(destination, block as unknown as BlockRow, offset, index)
      if (plain !== undefined) found.set(plain.replayId, plain)
    }
    return [...found.values()].sort((a, b) => Number(a.replayId !== null) - Number(b.replayId !== null) || a.at - b.at)
  }

  #plain(
    destination: number,
    { entries, revision, replay }: BlockRow,
    offset: number,
    index: number,
  ): RecordedDelivery | undefined {
    const buffer = asBuffer(entries)
    for (let at = 0; at < buffer.length; at += ENTRY_BYTES) {
      const entry = readEntry(buffer, at)
      if (entry.offset !== offset || entry.index !== index) continue
      const { offset: _, index: __, ...plain } = entry
      const versionIds = this.#versions.of(destination, revision)
      return { kind: 'plain', ...plain, revision, replayId: this.#replayId(replay), versionIds }
    }
    return undefined
  }

  /** The number of a replay of the log; 0 for the first delivery. */
  #replay(replayId: string | null): number {
    return replayId === null ? 0 : this.#names.number(replayId)
  }

  #replayId(replay: number): string | null {
    return replay === 0 ? null : this.#names.text(replay)
  }

  #journey(row: JourneyRow): JourneyWrite {
    return {
      destinationId: this.#names.text(row.destination),
      replayId: this.#replayId(row.replay),
      sourceId: this.#names.text(row.source),
      partition: row.partition,
      stream: row.stream,
      offset: row.offset,
      index: row.idx,
      outcome: row.outcome,
      reason: row.reason,
      acceptedAt: row.accepted_at,
      sizeBytes: row.size_bytes,
      userKey: row.user_key,
      anonymousKey: row.anonymous_key,
      attempts: row.attempts,
      deliveredRequests: row.delivered_requests,
      firstAttemptAt: row.first_attempt_at,
      dueAt: row.due_at,
      requests: row.requests === null ? null : JSON.parse(row.requests),
      revision: row.revision,
      at: row.changed_at,
    }
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** The record of one delivery of an event, the first or a replay. */
type RecordedDelivery = Extract<Recorded, { kind: 'plain' | 'journey' }>

interface BlockRow {
  revision: number
  replay: number
  entries: Uint8Array
}

interface PositionRow {
  reader: number
  partition: number
  stream: number
  offset: number
  idx: number
}

interface JourneyRow {
  destination: number
  source: number
  partition: number
  stream: number
  offset: number
  idx: number
  outcome: JourneyWrite['outcome']
  reason: string | null
  accepted_at: number
  size_bytes: number
  user_key: number
  anonymous_key: number
  attempts: number
  delivered_requests: number
  first_attempt_at: number | null
  due_at: number | null
  requests: string | null
  revision: number
  changed_at: number
  replay: number
}
