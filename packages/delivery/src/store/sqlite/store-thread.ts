import type { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import { answerCalls } from '@millrace/std/thread-calls'
import type { OutcomeStore, Recorded } from '../outcome-store.ts'
import { ENTRY_BYTES } from '../outcomes/outcome-block.ts'
import { recordedAtDestination } from '../outcomes/recorded-at-destination.ts'
import { BacklogTable } from './backlog-table.ts'
import { inTransaction, openDatabase } from './database.ts'
import { JobTable } from './jobs/job-table.ts'
import { KeptRecords } from './kept-records.ts'
import { DeadLetterTable } from './letters/dead-letter-table.ts'
import { LetterGroups } from './letters/letter-groups.ts'
import { LetterRanges } from './letters/letter-ranges.ts'
import { ReplayedLetters } from './letters/replayed-letters.ts'
import { MessageHashes } from './message-hashes.ts'
import { FlushWriter } from './outcomes/flush-writer.ts'
import { OutcomeTables } from './outcomes/outcome-tables.ts'
import { TraceRetention } from './outcomes/trace-retention.ts'
import { VersionTable } from './outcomes/version-table.ts'
import { RangeTable } from './range-table.ts'
import { RunTable } from './run-table.ts'
import { SpanTable } from './span-table.ts'
import { StatsTable } from './stats-table.ts'
import { type DeliveryCalls, type DeliveryThreadData, functionsOf, type NounAnswers } from './store-calls.ts'
import { StoredNames } from './stored-names.ts'

/** The delivery store's thread: the only writer of delivery.db. */
const { file } = workerData as DeliveryThreadData
let db: DatabaseSync
let names: StoredNames
let versions: VersionTable
let ranges: RangeTable
let spans: SpanTable
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

const nouns: NounAnswers = {
  outcomes: {
    positions: () => outcomes.positions(),
    resume: (of) => outcomes.resume(of),
    histories: ({ destinationId, events }) =>
      events.map((event) => {
        if (event.letterId === null) return outcomes.requestsOf(destinationId, event)
        return [...(deadLetters.get(event.letterId)?.wait?.requests ?? [])]
      }),
    recorded: (place) => recorded(place),
    droppedUntil: () => traces.droppedUntil(),
    deliveredSince({ destinationId, hour }) {
      const row = db
        .prepare('SELECT coalesce(sum(delivered), 0) AS sum FROM delivered_by_hour WHERE destination = ? AND hour >= ?')
        .get(names.find(destinationId) ?? -1, hour)
      return (row as { sum: number }).sum
    },
    expireWaiting: (request) => write(() => backlog.expireWaiting(request, (range) => ranges.write(range))),
    expireLost: (lost) => write(() => backlog.expireLost(lost, (range) => ranges.write(range))),
    expireRange: (range) => write(() => ranges.writeOnce(range)),
    discard: ({ scope, partitions, keptFrom = [], ranges: discarded, reason, at }) =>
      write(() => {
        for (const range of discarded) ranges.write(range)
        outcomes.dropWaiting(scope, partitions, keptFrom)
        return deadLetters.discard({ scope, partitions, keptFrom, reason, at })
      }),
  },
  deadLetters: {
    page: ({ filter, limit, before }) => deadLetters.list(filter, limit, before),
    groups: ({ filter, before }) => letterGroups.of(filter, before),
    get: (id) => deadLetters.get(id),
    events: (ids) => ids.map((id) => deadLetters.get(id)?.event),
    countOpen: (scope) => deadLetters.countOpen(scope),
    countOpenByDestination: () => deadLetters.countOpenByDestination(),
    discard: ({ id, at }) => write(() => deadLetters.discardOne(id, at)),
    expire: (request) => write(() => backlog.expireLetters(request)),
  },
  jobs: {
    createOfLetters: (job) => write(() => jobs.create(job)),
    createOfLog: (job) => write(() => jobs.createOverLog(job)),
    createOfLetter: (request) => write(() => jobs.replayOne(request)),
    get: (id) => jobs.get(id),
    list: ({ limit, before }) => jobs.list(limit, before),
    unfinished: () => jobs.unfinished(),
    change: ({ id, from, to, at }) => write(() => jobs.change(id, from, to, at)),
    end: ({ id, to, at, partitions }) =>
      write(() => {
        const changed = jobs.change(id, ['queued', 'running', 'paused'], to, at)
        if (changed?.isChanged) {
          replayed.reopen(id, partitions)
          outcomes.dropReplaying(id, partitions)
        }
        return changed
      }),
    countLetters: (request) => jobs.count(request),
    setMatched: ({ jobId, matched }) => write(() => jobs.setMatched(jobId, matched)),
    discardLetters: (request) => write(() => jobs.discard(request)),
    takeLetters: (request) => write(() => jobs.take(request)),
    replayingLetters: (of) => replayed.of(of).map((row) => deadLetters.byRow(row)),
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
    replayingEvents: (of) => outcomes.replaying(of),
    isUnderWay: (of) => replayed.of(of).length > 0 || outcomes.replaying(of).length > 0,
    reopenForgotten: ({ partitions }) =>
      write(() => {
        replayed.reopenForgotten(partitions)
        outcomes.dropForgotten(partitions)
      }),
  },
  backlog: {
    byDestination: () => backlog.all(),
    keepRecords: ({ partition, records }) => write(() => kept.keep(partition, records)),
    readKept: ({ partition, stream, from, maxBytes }) => kept.read(partition, stream, from, maxBytes),
    getKept: ({ partition, offsets }) => offsets.flatMap((offset) => kept.get(partition, offset) ?? []),
    tallyKept: ({ partition, stream, from, to }) => kept.tally(partition, stream, from, to),
    keptRanges: () => kept.ranges(),
    dropKept: ({ partition, before }) => write(() => kept.drop(partition, before)),
  },
  statistics: {
    add: (step) => write(() => stats.add(step)),
    read: ({ from, to, subjects }) => stats.read(from, to, subjects),
    reasons: ({ from, to, destinationId }) => stats.reasons(from, to, destinationId),
    lastEvents: () => stats.lastEvents(),
  },
  spans: {
    all: () => spans.all(),
    write: (change) => write(() => spans.write(change)),
    drop: (dropped) => write(() => spans.drop(dropped)),
  },
  messages: {
    write: ({ partition, lastOffset, entries, position }) =>
      write(() => {
        hashes.write(partition, lastOffset, entries)
        outcomes.writePosition(position)
      }),
    find: (hash) => hashes.find(Buffer.from(hash)),
  },
  runs: {
    begin: (now) => write(() => runs.begin(now)),
    end: () => write(() => runs.end()),
    clear: () => write(() => runs.clear()),
    countRead: () => write(() => runs.countRead()),
  },
}

const functions: DeliveryCalls = {
  open() {
    db = openDatabase(file)
    names = new StoredNames(db)
    versions = new VersionTable(db)
    ranges = new RangeTable(db, names)
    spans = new SpanTable(db)
    const letterRanges = new LetterRanges(db, names)
    outcomes = new OutcomeTables(db, names, versions, letterRanges)
    deadLetters = new DeadLetterTable(db, names, versions, letterRanges)
    jobs = new JobTable(db, names, deadLetters, letterRanges)
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
  noteUnderWay: (event) => write(() => runs.note(event)),
  tidy: (request) =>
    write(() => {
      outcomes.closeBlocks()
      jobs.drop(request.finalBefore)
      for (const { partition, offset } of request.logOldest) hashes.drop(partition, offset)
      traces.tidy(request)
    }),
  connect(port) {
    answerCalls(calls, port)
  },
  close() {
    db.close()
  },
}

const calls = { ...functionsOf(nouns), ...functions }
answerCalls(calls)

/** By destination: outcomes of the first delivery, then of each replay of the log. */
function recorded({ partition, offset, index, sourceId }: Parameters<OutcomeStore['recorded']>[0]) {
  const found: [string, Recorded][] = []
  for (const row of db
    .prepare(
      'SELECT id, name FROM names WHERE id IN (SELECT reader FROM positions UNION SELECT destination FROM ranges)',
    )
    .all()) {
    const destination = row['id'] as number
    const all = recordedAtDestination({
      deliveries: outcomes.recorded(destination, partition, offset, index),
      letter: deadLetters.recorded(destination, partition, offset, index),
      range: ranges.at(destination, sourceId, partition, offset),
    })
    for (const each of all) found.push([row['name'] as string, each])
  }
  return found
}

function write<T>(work: () => T): T {
  try {
    return inTransaction(db, work)
  } catch (error) {
    names.forget()
    outcomes.closeBlocks()
    throw error
  }
}
