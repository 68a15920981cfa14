import type { Queries } from '@millrace/postgres'
import { lastStatusOf, requestsAfter, type StoredAttempts, waitAfter } from '../../letters/replayed-letter.ts'
import { rowOfDeadLetterId } from '../../outcomes/dead-letter-id.ts'
import { type ReplayedWrite, STAGES } from '../../outcomes/flush.ts'
import { COUNTED_LETTER, countsOf } from '../letters/letter-counts.ts'
import { OPEN, REPLAYING, RESOLVED } from '../letters/letter-rows.ts'
import type { NumberOf } from '../outcomes/journey-rows.ts'
import { addToJobs, JobCounts } from './flush-counts.ts'

/** A replaying dead letter: what a write may change of it. */
interface ReplayingLetter extends StoredAttempts {
  readonly id: number
  readonly partition: number
  readonly jobId: string
  readonly state: number
  readonly stage: number
  readonly reason: number
  readonly attempts: number
  readonly last_status: number
  readonly last_answer: number | null
  readonly revision: number
  readonly state_at: number
  readonly end_reason: number | null
  readonly changed_at: number | null
}

/** Names that the new states of dead letters use. */
export function namesOfReplayed(replayed: ReplayedWrite): string[] {
  if (replayed.kind === 'left_out') return [replayed.reason]
  if (replayed.kind === 'journey') return []
  const { reason, lastAnswer } = replayed.letter
  return lastAnswer === null ? [reason] : [reason, lastAnswer]
}

/**
 * Writes the new states of replaying dead letters and the counts of their jobs. Dead letters in another state stay
 * unchanged.
 *
 *   replaying → resolved   delivered, or excluded by a current filter or user code
 *   replaying → open       given up again, with the new attempts added
 *
 * @param lost those of these partitions that another process owns; their dead letters stay unchanged.
 */
export async function writeReplayed(
  queries: Queries,
  writes: readonly ReplayedWrite[],
  names: NumberOf,
  lost: (partitions: readonly number[]) => Promise<(partition: number) => boolean>,
): Promise<void> {
  const byId = new Map(writes.map((write) => [rowOfDeadLetterId(write.letterId) ?? -1, write]))
  const replaying = await queries.rows<ReplayingLetter>(SELECT, [[...byId.keys()]])
  const isLost = await lost(replaying.map(({ partition }) => partition))
  const letters = replaying.filter(({ partition }) => !isLost(partition))
  if (letters.length === 0) return
  const jobs = new JobCounts()
  const changed = letters.map((letter) => changedLetter(letter, byId.get(letter.id)!, names, jobs))
  await queries.rows(UPDATE, [JSON.stringify(changed)])
  const counts = jobs.asJson()
  if (counts !== undefined) await queries.run(addToJobs('$1'), [counts])
}

function changedLetter(
  letter: ReplayingLetter,
  write: ReplayedWrite,
  names: NumberOf,
  jobs: JobCounts,
): ReplayingLetter {
  const { jobId, partition } = letter
  switch (write.kind) {
    case 'journey': {
      const { outcome, at, attempts, requests, revision } = write.journey
      if (outcome === 'waiting') return { ...letter, wait: waitAfter(letter.wait, write.journey), changed_at: at }
      jobs.add(jobId, partition, { delivered: 1 })
      return {
        ...{ ...letter, state: RESOLVED, state_at: at, end_reason: null, wait: null, revision },
        attempts: letter.attempts + attempts,
        last_status: lastStatusOf(write.journey),
        requests: requestsAfter(letter.requests, requests),
        changed_at: at,
      }
    }
    case 'left_out':
      jobs.add(jobId, partition, { filtered: 1 })
      return {
        ...{ ...letter, state: RESOLVED, state_at: write.at, end_reason: names(write.reason), wait: null },
        revision: write.revision,
        changed_at: write.at,
      }
    case 'dead_letter': {
      const { stage, reason, attempts, lastStatus, lastAnswer, requests, revision, deadAt } = write.letter
      jobs.add(jobId, partition, { deadLettered: 1 })
      return {
        ...{ ...letter, state: OPEN, stage: STAGES.indexOf(stage), reason: names(reason), wait: null, revision },
        attempts: letter.attempts + attempts,
        last_status: lastStatus,
        last_answer: lastAnswer === null ? null : names(lastAnswer),
        requests: requestsAfter(letter.requests, requests),
        changed_at: deadAt,
      }
    }
  }
}

const CHANGED = ['reason', 'attempts', 'last_status', 'last_answer', 'revision', 'state_at', 'end_reason', 'changed_at']
const SELECT = `
  SELECT l.id, l.partition, name.name AS "jobId", l.state, l.stage, ${CHANGED.map((name) => `l.${name}`).join(', ')},
    l.requests, l.wait
  FROM dead_letter l JOIN name ON name.id = l.replay WHERE l.id = ANY ($1) AND l.state = ${REPLAYING} ORDER BY l.id FOR UPDATE OF l`
const UPDATE = `
  WITH changed AS (
    UPDATE dead_letter l SET state = row.state, stage = row.stage, requests = row.requests, wait = row.wait,
      ${CHANGED.map((name) => `${name} = row.${name}`).join(', ')}
    FROM json_to_recordset($1::json) AS row(id bigint, state smallint, stage smallint, requests text, wait text,
      ${CHANGED.map((name) => `${name} bigint`).join(', ')})
    WHERE l.id = row.id RETURNING l.*
  ),
  reopened AS (SELECT ${COUNTED_LETTER} FROM changed WHERE state = ${OPEN}),
  ${countsOf('reopened', 1)}
  SELECT 1`
