import type { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import { answerCalls } from '@millrace/std'
import { BacklogTable } from './backlog-table.ts'
import type { DeliveryCalls, DeliveryThreadData, RangeWrite, Recorded, Span } from './calls.ts'
import { inTransaction, openDatabase } from './database.ts'
import { JobTable } from './jobs/job-table.ts'
import { KeptRecords } from './kept-records.ts'
import { DeadLetterTable } from './letters/dead-letter-table.ts'
import { LetterGroups } from './letters/letter-groups.ts'
import { LetterRanges } from './letters/letter-ranges.ts'
import { ReplayedLetters } from './letters/replayed-letters.ts'
import { MessageHashes } from './message-hashes.ts'
import { FlushWriter } from './outcomes/flush-writer.ts'
import { ENTRY_BYTES } from './outcomes/outcome-block.ts'
import { OutcomeTables } from './outcomes/outcome-tables.ts'
import { TraceRetention } from './outcomes/trace-retention.ts'
import { VersionTable } from './outcomes/version-table.ts'
import { RunTable } from './run-table.ts'
import { StatsTable } from './stats-table.ts'
import { StoredNames } from './stored-names.ts'

/** The delivery store's own thread: the only place where delivery.db is read and written. */
const { file } = workerData as DeliveryThreadData
let db: DatabaseSync
let names: StoredNames
let versions: VersionTable
let outcomes: OutcomeTables
let deadLetters: DeadLetterTable
let letterGroups: LetterGroups
let jobs: JobTable
let replayed: ReplayedLetters
let hashes: MessageHashes
let traces: TraceRetention
let backlog: BacklogTable
let kept: KeptRecords
let stats: StatsTable
let flushes: FlushWriter
let runs: RunTable

answerCalls<DeliveryCalls>({
  open() {
    db = openDatabase(file)
    names = new StoredNames(db)
    versions = new VersionTable(db)
    const ranges = new LetterRanges(db, names)
    outcomes = new OutcomeTables(db, names, versions, ranges)
    deadLetters = new DeadLetterTable(db, names, versions, ranges)
    jobs = new JobTable(db, names, deadLetters, ranges)
    letterGroups = new LetterGroups(db, names, deadLetters)
    replayed = new ReplayedLetters(db, names)
    hashes = new MessageHashes(db)
    traces = new TraceRetention(db)
    stats = new StatsTable(db, names)
    kept = new KeptRecords(db, names)
    backlog = new BacklogTable(db, names, deadLetters, outcomes)
    runs = new RunTable(db)
    flushes = new FlushWriter({ db, names, versions, outcomes, deadLetters, jobs, replayed, backlog, runs })
  },
  flush: (flush) => flushes.write(flush),
  beginRun: (now) => write(() => runs.begin(now)),
  endRun: () => write(() => runs.end()),
  noteUnderWay: (event) => write(() => runs.note(event)),
  countUnderWayRead: () => write(() => runs.countRead()),
  clearUnderWay: () => write(() => runs.clear()),
  positions: () => outcomes.positions(),
  resume: (destinationId) => outcomes.resume(destinationId),
  histories: ({ destinationId, events }) =>
    events.map((event) => {
      if (event.letterId === null) return outcomes.requestsOf(destinationId, event)
      return [...(deadLetters.get(event.letterId)?.wait?.requests ?? [])]
    }),
  spans: () =>
    db
      .prepare('SELECT * FROM spans')
      .all()
      .map((row) => ({
        kind: row['kind'] as Span['kind'],
        resource: row['resource'] as string,
        sourceId: row['source'] as string,
        destinationId: row['destination'] as string,
        partition: row['partition'] as number,
        fromOffset: row['from_offset'] as number,
        toOffset: row['to_offset'] as number | null,
      })),
  writeSpans: ({ put, remove }) =>
    write(() => {
      const drop = db.prepare('DELETE FROM spans WHERE kind = ? AND resource = ?')
      for (const { kind, resource } of remove) drop.run(kind, resource)
      const insert = db.prepare('INSERT OR REPLACE INTO spans VALUES (?, ?, ?, ?, ?, ?, ?)')
      for (const span of put) {
        const { kind, resource, sourceId, destinationId, partition, fromOffset, toOffset } = span
        insert.run(kind, resource, sourceId, destinationId, partition, fromOffset, toOffset)
      }
    }),
  dropSpans: (spans) =>
    write(() => {
      const drop = db.prepare('DELETE FROM spans WHERE kind = ? AND resource = ? AND partition = ? AND from_offset = ?')
      for (const { kind, resource, partition, fromOffset } of spans) drop.run(kind, resource, partition, fromOffset)
    }),
  recorded: ({ partition, offset, index, sourceId }) => {
    const found: [string, Recorded][] = []
    for (const row of db
      .prepare(
        'SELECT id, name FROM names WHERE id IN (SELECT reader FROM positions UNION SELECT destination FROM ranges)',
      )
      .all()) {
      const destination = row['id'] as number
      const recorded: Recorded[] = outcomes.recorded(destination, partition, offset, index)
      const letter = deadLetters.recorded(destination, partition, offset, index)
      const hasFirst = recorded[0] !== undefined && !isOfReplay(recorded[0])
      if (letter !== undefined) {
        // Beside an outcome of the first delivery it can only be of a replay.
        if (hasFirst) recorded.push(letter)
        else recorded.unshift(letter)
      } else if (!hasFirst) {
        const range = inRange(destination, sourceId, partition, offset)
        if (range !== undefined) recorded.unshift(range)
      }
      for (const each of recorded) found.push([row['name'] as string, each])
    }
    return found
  },
  writeHashes: ({ partition, lastOffset, entries, position }) =>
    write(() => {
      hashes.write(partition, lastOffset, Buffer.from(entries.buffer, entries.byteOffset, entries.byteLength))
      outcomes.writePosition(position)
    }),
  findHash: (hash) => hashes.find(Buffer.from(hash)),
  deadLetters: ({ filter, limit, before }) => deadLetters.list(filter, limit, before),
  addStats: (step) => write(() => stats.add(step)),
  readStats: ({ from, to, subjects }) => stats.read(from, to, subjects),
  readStatsReasons: ({ from, to, destinationId }) => stats.reasons(from, to, destinationId),
  lastEvents: () => stats.lastEvents(),
  deadLetterGroups: ({ filter, before }) => letterGroups.of(filter, before),
  deadLetter: (id) => deadLetters.get(id),
  discardLetter: ({ id, at }) => write(() => deadLetters.discardOne(id, at)),
  createJob: (job) => write(() => jobs.create(job)),
  createLogJob: (job) => write(() => jobs.createOverLog(job)),
  job: (id) => jobs.get(id),
  jobs: ({ limit, before }) => jobs.list(limit, before),
  unfinishedJobs: () => jobs.unfinished(),
  changeJob: ({ id, from, to, at }) => write(() => jobs.change(id, from, to, at)),
  countLetters: ({ jobId, destinationId, after }) => jobs.count(jobId, destinationId, after),
  setMatched: ({ jobId, matched }) => write(() => jobs.setMatched(jobId, matched)),
  discardLetters: ({ jobId, destinationId, limit, at }) => write(() => jobs.discard(jobId, destinationId, limit, at)),
  replayLetter: ({ letterId, job }) => write(() => jobs.replayOne(letterId, job)),
  takeLetters: ({ jobId, destinationId, limit, at }) => write(() => jobs.take(jobId, destinationId, limit, at)),
  replayingLetters: (jobId) => replayed.of(jobId).map((row) => deadLetters.byRow(row)),
  letterEvents: (ids) => ids.map((id) => deadLetters.get(id)?.event),
  takeEvents: (taken) =>
    write(() => {
      const { destinationId, waits, filtered } = taken
      const indexes = [...waits.keys()].filter((i) => !outcomes.isWaiting(destinationId, waits[i]!))
      for (const i of indexes) outcomes.writeJourney(waits[i]!)
      for (const block of filtered) flushes.writeBlock(block)
      const leftOut = filtered.reduce((sum, { entries }) => sum + entries.length / ENTRY_BYTES, 0)
      jobs.moveOn(taken, indexes.length + leftOut)
      return indexes
    }),
  replayingEvents: (jobId) => outcomes.replaying(jobId),
  endJob: ({ id, to, at }) =>
    write(() => {
      const changed = jobs.change(id, ['queued', 'running', 'paused'], to, at)
      if (changed?.isChanged) {
        replayed.reopen(id)
        outcomes.dropReplaying(id)
      }
      return changed
    }),
  reopenForgotten: () => write(() => replayed.reopenForgotten()),
  openDeadLetters: (scope) => deadLetters.countOpen(scope),
  openDeadLettersByDestination: () => deadLetters.countOpenByDestination(),
  tracesDroppedUntil: () => traces.droppedUntil(),
  deliveredSince({ destinationId, hour }) {
    const row = db
      .prepare('SELECT coalesce(sum(delivered), 0) AS sum FROM delivered_by_hour WHERE destination = ? AND hour >= ?')
      .get(names.find(destinationId) ?? -1, hour)
    return (row as { sum: number }).sum
  },
  backlog: () => backlog.all(),
  keepRecords: ({ partition, records }) => write(() => kept.keep(partition, records)),
  readKept: ({ partition, stream, from, maxBytes }) => kept.read(partition, stream, from, maxBytes),
  getKept: ({ partition, offsets }) => offsets.flatMap((offset) => kept.get(partition, offset) ?? []),
  tallyKept: ({ partition, stream, from, to }) => kept.tally(partition, stream, from, to),
  keptRanges: () => kept.ranges(),
  dropKept: ({ partition, before }) => write(() => kept.drop(partition, before)),
  expireWaiting: (request) => write(() => backlog.expireWaiting(request, writeRange)),
  expireLetters: (request) => write(() => backlog.expireLetters(request)),
  expireRange: (range) =>
    write(() => {
      const known = db.prepare(
        'SELECT 1 FROM ranges WHERE destination = ? AND partition = ? AND from_offset = ? AND outcome = ?',
      )
      const destination = names.number(range.destinationId)
      if (known.get(destination, range.partition, range.fromOffset, range.outcome) === undefined) writeRange(range)
    }),
  discard: ({ scope, ranges, reason, at }) =>
    write(() => {
      for (const range of ranges) writeRange(range)
      deadLetters.discard(scope, reason, at)
      const places =
        "DELETE FROM journeys WHERE outcome = 'waiting' AND (? IS NULL OR destination = ?) AND (? IS NULL OR source = ?)"
      const destination = names.sought(scope.destinationId) ?? null
      const source = names.sought(scope.sourceId) ?? null
      db.prepare(places).run(destination, destination, source, source)
    }),
  tidy: (request) =>
    write(() => {
      outcomes.closeBlocks()
      jobs.drop(request.finalBefore)
      for (const { partition, offset } of request.logOldest) hashes.drop(partition, offset)
      traces.tidy(request)
    }),
  close() {
    db.close()
  },
})

function write<T>(work: () => T): T {
  try {
    return inTransaction(db, work)
  } catch (error) {
    names.forget()
    outcomes.closeBlocks()
    throw error
  }
}

function isOfReplay(recorded: Recorded): boolean {
  return recorded.kind !== 'range' && recorded.replayId !== null
}

function writeRange(range: RangeWrite): void {
  const source = range.sourceId === null ? null : names.number(range.sourceId)
  db.prepare(
    `INSERT INTO ranges (destination, source, partition, from_offset, to_offset, outcome, reason, count, at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    names.number(range.destinationId),
    source,
    range.partition,
    range.fromOffset,
    range.toOffset,
    range.outcome,
    range.reason,
    range.count,
    range.at,
  )
}

function inRange(destination: number, sourceId: string, partition: number, offset: number): Recorded | undefined {
  const row = db
    .prepare(
      `SELECT outcome, reason FROM ranges WHERE destination = ? AND partition = ? AND from_offset <= ? AND to_offset > ?
       AND (source IS NULL OR source = ?) ORDER BY id LIMIT 1`,
    )
    .get(destination, partition, offset, offset, names.find(sourceId) ?? -1)
  return row && { kind: 'range', outcome: row['outcome'] as RangeWrite['outcome'], reason: row['reason'] as string }
}
