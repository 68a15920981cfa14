import type { PostgresPool, Queries } from '@millrace/postgres'
import { DEAD_LETTER_STATES, type DeadLetterRow } from '../../dead-letter-store.ts'
import { deadLetterId, rowOfDeadLetterId } from '../../outcomes/dead-letter-id.ts'
import { STAGES } from '../../outcomes/flush.ts'
import { versionsOf } from '../outcomes/version-ids.ts'
import { idValues, LETTERS_BY_ID, shownLetters, wholeLetters } from './letter-sql.ts'

/** Reads whole dead letters. A dead letter is a row, or part of a range of many; callers cannot distinguish them. */
export class LetterReads {
  readonly #pool: PostgresPool

  constructor(pool: PostgresPool) {
    this.#pool = pool
  }

  async get(id: string, queries: Pick<Queries, 'rows'> = this.queries): Promise<DeadLetterRow | undefined> {
    const row = rowOfDeadLetterId(id)
    if (row === undefined) return undefined
    const letter = (await this.byRow([row], queries))[0]
    return letter?.id === id ? letter : undefined
  }

  /** In the order of the ids; those that no longer exist are missing. */
  async byRow(ids: readonly number[], queries: Pick<Queries, 'rows'> = this.queries): Promise<DeadLetterRow[]> {
    if (ids.length === 0) return []
    const rows = await queries.rows<ShownRow>(shownLetters(LETTERS_BY_ID), idValues(ids))
    const found = new Map(rows.map((row) => [row.id, letterOf(row)]))
    return ids.flatMap((id) => found.get(id) ?? [])
  }

  /** The newest dead letter of an event at each destination, by the destination's id. */
  async newestAt(
    destinations: readonly number[],
    { partition, offset, index }: { partition: number; offset: number; index: number },
  ): Promise<Map<string, DeadLetterRow>> {
    const rows = await this.#pool.query<ShownRow>(AT_PLACE, [destinations, partition, offset, index])
    return new Map(rows.map((row) => [row.destinationId, letterOf(row)]))
  }

  get queries(): Pick<Queries, 'rows'> {
    return { rows: (text, values) => this.#pool.query(text, values) }
  }
}

interface ShownRow {
  readonly id: number
  readonly state: number
  readonly destinationId: string
  readonly sourceId: string
  readonly partition: number
  readonly offset: number
  readonly index: number
  readonly stage: number
  readonly reason: string
  readonly acceptedAt: number
  readonly deadAt: number
  readonly attempts: number
  readonly lastStatus: number
  readonly lastAnswer: string | null
  readonly revision: number
  readonly stateAt: number
  readonly endReason: string | null
  readonly replayId: string | null
  readonly requests: string | null
  readonly wait: string | null
  readonly event: string
  readonly versionIds: string | null
}

function letterOf({ id, state, stage, requests, wait, versionIds, ...row }: ShownRow): DeadLetterRow {
  return {
    ...row,
    id: deadLetterId(id, row.deadAt),
    stream: 0,
    state: DEAD_LETTER_STATES[state]!,
    stage: STAGES[stage]!,
    requests: requests === null ? null : JSON.parse(requests),
    wait: wait === null ? null : JSON.parse(wait),
    versionIds: versionsOf(versionIds),
  }
}

const AT_PLACE = `${shownLetters(`
  SELECT DISTINCT ON (destination) * FROM (${wholeLetters(
    'l.destination = ANY ($1) AND l.partition = $2 AND l."offset" = $3 AND l.idx = $4',
    `r.destination = ANY ($1) AND r.partition = $2 AND r.last_offset >= $3 AND r.first_offset <= $3
      AND u."offset" = $3 AND u.idx = $4`,
  )}) found ORDER BY destination, id DESC`)}`
