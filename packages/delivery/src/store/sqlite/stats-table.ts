import type { DatabaseSync } from 'node:sqlite'
import { addedDurations } from '../../pace/duration-counts.ts'
import {
  type StatsReason,
  type StatsRow,
  type StatsWrite,
  SUBJECT_KINDS,
  type SubjectKind,
} from '../statistics-store.ts'
import { durationBytes, durationsOf } from './duration-bytes.ts'
import type { StoredNames } from './stored-names.ts'

const KEPT_MS = 7 * 24 * 3_600_000

/** Activity of sources, transformations and destinations, in steps of 300 s over the last 7 days. */
export class StatsTable {
  readonly #names: StoredNames
  readonly #statements

  constructor(db: DatabaseSync, names: StoredNames) {
    this.#names = names
    this.#statements = {
      putStep: db.prepare('INSERT INTO stats_steps (at) VALUES (?) ON CONFLICT DO NOTHING'),
      put: db.prepare(
        `INSERT INTO stats (kind, subject, at, c0, c1, c2, c3, c4, waiting, durations)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET c0 = c0 + excluded.c0, c1 = c1 + excluded.c1, c2 = c2 + excluded.c2,
           c3 = c3 + excluded.c3, c4 = c4 + excluded.c4, waiting = excluded.waiting, durations = excluded.durations`,
      ),
      durations: db.prepare('SELECT durations FROM stats WHERE kind = ? AND subject = ? AND at = ?'),
      putReason: db.prepare(
        `INSERT INTO stats_reasons (destination, at, outcome, reason, events) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET events = events + excluded.events`,
      ),
      putLast: db.prepare(
        'INSERT INTO last_events (source, at) VALUES (?, ?) ON CONFLICT DO UPDATE SET at = excluded.at',
      ),
      dropSteps: db.prepare('DELETE FROM stats_steps WHERE at < ?'),
      drop: db.prepare('DELETE FROM stats WHERE kind = ? AND subject = ? AND at < ?'),
      dropReasons: db.prepare('DELETE FROM stats_reasons WHERE destination = ? AND at < ?'),
      steps: db.prepare('SELECT at FROM stats_steps WHERE at >= ? AND at < ?'),
      rows: db.prepare('SELECT * FROM stats WHERE kind = ? AND subject = ? AND at >= ? AND at < ? ORDER BY at'),
      reasons: db.prepare(
        `SELECT destination, outcome, reason, sum(events) AS events FROM stats_reasons
         WHERE (?1 IS NULL OR destination = ?1) AND at >= ?2 AND at < ?3
         GROUP BY destination, outcome, reason`,
      ),
      lastEvents: db.prepare('SELECT source, at FROM last_events'),
    }
    // An active subject loses an old step with each new one; this deletes the steps of removed subjects.
    const { newest } = db.prepare('SELECT max(at) AS newest FROM stats_steps').get() as { newest: number | null }
    if (newest === null) return
    for (const table of ['stats', 'stats_reasons']) {
      db.prepare(`DELETE FROM ${table} WHERE at < ?`).run(newest - KEPT_MS)
    }
  }

  add({ at, rows, reasons, lastEvents }: StatsWrite): void {
    const { putStep, durations: stored, put, putReason, putLast, dropSteps, drop, dropReasons } = this.#statements
    const before = at - KEPT_MS
    putStep.run(at)
    dropSteps.run(before)
    for (const { kind, id, counts, waiting, durations } of rows) {
      const subject = [SUBJECT_KINDS.indexOf(kind), this.#names.number(id)] as const
      const [c0 = 0, c1 = 0, c2 = 0, c3 = 0, c4 = 0] = counts
      const earlier = stored.get(...subject, at) as Pick<Row, 'durations'> | undefined
      const sum = addedDurations(durationsOf(earlier?.durations ?? null), durations)
      put.run(...subject, at, c0, c1, c2, c3, c4, waiting, durationBytes(sum))
      drop.run(...subject, before)
    }
    for (const { destinationId, outcome, reason, count } of reasons) {
      const destination = this.#names.number(destinationId)
      putReason.run(destination, at, outcome, this.#names.number(reason), count)
      dropReasons.run(destination, before)
    }
    for (const [sourceId, lastAt] of lastEvents) putLast.run(this.#names.number(sourceId), lastAt)
  }

  read(from: number, to: number, subjects: readonly (readonly [SubjectKind, string])[]) {
    const known = (this.#statements.steps.all(from, to) as { at: number }[]).map(({ at }) => at)
    const rows = subjects.map(([kind, id]) => {
      const subject = this.#names.find(id)
      if (subject === undefined) return []
      const found = this.#statements.rows.all(SUBJECT_KINDS.indexOf(kind), subject, from, to) as unknown as Row[]
      return found.map((row) => ({ at: row.at, ...statsRow(kind, id, row) }))
    })
    return { known, rows }
  }

  reasons(from: number, to: number, destinationId: string | undefined): StatsReason[] {
    const destination = this.#names.sought(destinationId) ?? null
    const rows = this.#statements.reasons.all(destination, from, to) as unknown as ReasonRow[]
    return rows.map(({ destination, outcome, reason, events }) => ({
      destinationId: this.#names.text(destination),
      outcome,
      reason: this.#names.text(reason),
      count: events,
    }))
  }

  lastEvents(): [string, number][] {
    const rows = this.#statements.lastEvents.all() as { source: number; at: number }[]
    return rows.map(({ source, at }) => [this.#names.text(source), at])
  }
}

function statsRow(kind: SubjectKind, id: string, { c0, c1, c2, c3, c4, waiting, durations }: Row): StatsRow {
  return { kind, id, counts: [c0, c1, c2, c3, c4], waiting, durations: durationsOf(durations) }
}

interface Row {
  at: number
  c0: number
  c1: number
  c2: number
  c3: number
  c4: number
  waiting: number
  durations: Uint8Array | null
}

interface ReasonRow {
  destination: number
  outcome: string
  reason: number
  events: number
}
