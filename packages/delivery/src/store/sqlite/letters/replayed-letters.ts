import type { DatabaseSync } from 'node:sqlite'
import { DEAD_LETTER_STATES } from '../../dead-letter-store.ts'
import type { JobPartitions } from '../../job-store.ts'
import { lastStatusOf, requestsAfter, type StoredAttempts, waitAfter } from '../../letters/replayed-letter.ts'
import { rowOfDeadLetterId } from '../../outcomes/dead-letter-id.ts'
import { type ReplayedWrite, STAGES } from '../../outcomes/flush.ts'
import { IN_PARTITIONS } from '../in-partitions.ts'
import type { StoredNames } from '../stored-names.ts'
import { writable } from '../writable.ts'

const OPEN = DEAD_LETTER_STATES.indexOf('open')
const REPLAYING = DEAD_LETTER_STATES.indexOf('replaying')
const RESOLVED = DEAD_LETTER_STATES.indexOf('resolved')

/**
 * The states of replayed dead letters.
 *
 *   replaying → resolved   delivered, or excluded by a current filter or user code
 *   replaying → open       given up again, with the new attempts added; or the replay was cancelled
 *
 * Each change is written with the counts of its job, in one transaction.
 */
export class ReplayedLetters {
  readonly #names: StoredNames
  readonly #statements

  constructor(db: DatabaseSync, names: StoredNames) {
    this.#names = names
    this.#statements = {
      get: db.prepare('SELECT state, requests, replay, wait FROM dead_letters WHERE id = ?'),
      of: db.prepare(
        `SELECT id FROM dead_letters WHERE state > 0 AND state = ? AND replay = ? AND ${IN_PARTITIONS}
         ORDER BY destination, partition, offset, idx, id`,
      ),
      wait: db.prepare('UPDATE dead_letters SET wait = ? WHERE id = ?'),
      resolve: db.prepare(
        `UPDATE dead_letters SET state = ?, state_at = ?, end_reason = ?, attempts = attempts + ?, last_status = ?,
           requests = ?, revision = ?, wait = NULL WHERE id = ?`,
      ),
      resolveLeftOut: db.prepare(
        'UPDATE dead_letters SET state = ?, state_at = ?, end_reason = ?, revision = ?, wait = NULL WHERE id = ?',
      ),
      giveUp: db.prepare(
        `UPDATE dead_letters SET state = ?, stage = ?, reason = ?, attempts = attempts + ?, last_status = ?,
           last_answer = ?, requests = ?, revision = ?, wait = NULL WHERE id = ?`,
      ),
      reopen: db.prepare(
        `UPDATE dead_letters SET state = ?, wait = NULL WHERE state > 0 AND state = ? AND replay = ? AND ${IN_PARTITIONS}`,
      ),
      reopenForgotten: db.prepare(
        `UPDATE dead_letters SET state = ?, wait = NULL WHERE state > 0 AND state = ? AND ${IN_PARTITIONS} AND
           replay NOT IN (SELECT names.id FROM names JOIN jobs ON jobs.id = names.name WHERE finished_at IS NULL)`,
      ),
      countDelivered: db.prepare('UPDATE jobs SET delivered = delivered + 1 WHERE id = ?'),
      countFiltered: db.prepare('UPDATE jobs SET filtered = filtered + 1 WHERE id = ?'),
      countDeadLettered: db.prepare('UPDATE jobs SET dead_lettered = dead_lettered + 1 WHERE id = ?'),
    }
  }

  /** Rows that are replaying for a job. */
  of({ jobId, partitions }: JobPartitions): number[] {
    const job = this.#names.find(jobId) ?? -1
    const rows = this.#statements.of.all(REPLAYING, job, JSON.stringify(partitions)) as { id: number }[]
    return rows.map(({ id }) => id)
  }

  write(replayed: ReplayedWrite): void {
    const id = rowOfDeadLetterId(replayed.letterId)!
    const row = this.#statements.get.get(id) as Row | undefined
    if (row?.state !== REPLAYING) return
    const job = this.#names.text(row.replay)
    const { resolve, resolveLeftOut, giveUp, countDelivered, countFiltered, countDeadLettered } = this.#statements
    switch (replayed.kind) {
      case 'journey': {
        const { outcome, at, attempts, requests, revision } = replayed.journey
        if (outcome === 'waiting') {
          this.#statements.wait.run(waitAfter(row.wait, replayed.journey), id)
          return
        }
        const after = requestsAfter(row.requests, requests)
        resolve.run(...writable([RESOLVED, at, null, attempts, lastStatusOf(replayed.journey), after, revision, id]))
        countDelivered.run(job)
        return
      }
      case 'left_out': {
        const { at, reason, revision } = replayed
        resolveLeftOut.run(...writable([RESOLVED, at, this.#names.number(reason), revision, id]))
        countFiltered.run(job)
        return
      }
      case 'dead_letter': {
        const { stage, reason, attempts, lastStatus, lastAnswer, requests, revision } = replayed.letter
        const answer = lastAnswer === null ? null : this.#names.number(lastAnswer)
        const why = this.#names.number(reason)
        const facts = [OPEN, STAGES.indexOf(stage), why, attempts, lastStatus, answer]
        giveUp.run(...writable([...facts, requestsAfter(row.requests, requests), revision, id]))
        countDeadLettered.run(job)
        return
      }
    }
  }

  /** Of one job. */
  reopen(jobId: string, partitions: readonly number[]): void {
    this.#statements.reopen.run(OPEN, REPLAYING, this.#names.find(jobId) ?? -1, JSON.stringify(partitions))
  }

  reopenForgotten(partitions: readonly number[]): void {
    this.#statements.reopenForgotten.run(OPEN, REPLAYING, JSON.stringify(partitions))
  }
}

interface Row extends StoredAttempts {
  state: number
  replay: number
}
