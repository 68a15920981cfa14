import { minuteOf } from '../../letters/alike-letters.ts'
import type { DeadLetterWrite, Flush } from '../../outcomes/flush.ts'
import { STAGES } from '../../outcomes/flush.ts'
import { countDelivered, ENTRY_BYTES } from '../../outcomes/outcome-block.ts'
import type { NumberOf } from '../outcomes/journey-rows.ts'
import { storedBytes } from '../stored-text.ts'

/** What a flush adds to the counts of dead letters: rows of `backlog` and `letter_group` as JSON; undefined: nothing. */
export interface LetterCounts {
  readonly backlog: string | undefined
  readonly groups: string | undefined
}

export function letterCounts(
  { deadLetters, journeys }: Pick<Flush, 'deadLetters' | 'journeys'>,
  names: NumberOf,
): LetterCounts {
  const backlog = new Sums<BacklogSum>()
  const groups = new Sums<GroupSum>()
  for (const letter of deadLetters) {
    const sum = backlog.of({ destination: names(letter.destinationId), partition: letter.partition }, NO_BACKLOG)
    sum.letters++
    sum.letter_bytes += storedBytes(letter.event)
    addToGroup(groups, letter, names)
  }
  for (const { destinationId, partition, replayId, outcome } of journeys) {
    if (outcome !== 'expired' || replayId !== null) continue
    backlog.of({ destination: names(destinationId), partition }, NO_BACKLOG).expired++
  }
  return { backlog: backlog.asJson(), groups: groups.asJson() }
}

/** Outcomes of a job's events. */
export interface JobOutcomes {
  readonly delivered?: number
  readonly filtered?: number
  readonly deadLettered?: number
}

/** Outcomes by job and partition. */
export class JobCounts {
  readonly #sums = new Sums<{ delivered: number; filtered: number; dead_lettered: number }>()

  add(id: string, partition: number, { delivered = 0, filtered = 0, deadLettered = 0 }: JobOutcomes): void {
    const sum = this.#sums.of({ id, partition }, { delivered: 0, filtered: 0, dead_lettered: 0 })
    sum.delivered += delivered
    sum.filtered += filtered
    sum.dead_lettered += deadLettered
  }

  addBlock({ replayId, partition, entries }: Flush['blocks'][number]): void {
    if (replayId === null) return
    const delivered = countDelivered(entries)
    this.add(replayId, partition, { delivered, filtered: entries.length / ENTRY_BYTES - delivered })
  }

  /** Rows for `addToJobs`; undefined: none. */
  asJson(): string | undefined {
    return this.#sums.asJson()
  }
}

/** The outcomes that a flush adds to jobs, but for those of replayed dead letters. */
export function jobCounts(flush: Pick<Flush, 'blocks' | 'journeys' | 'deadLetters'>): JobCounts {
  const { blocks, journeys, deadLetters } = flush
  const counts = new JobCounts()
  for (const block of blocks) counts.addBlock(block)
  for (const { replayId, partition, outcome } of journeys) {
    if (replayId !== null && outcome === 'delivered') counts.add(replayId, partition, { delivered: 1 })
  }
  for (const { replayId, partition } of deadLetters) {
    if (replayId !== null) counts.add(replayId, partition, { deadLettered: 1 })
  }
  return counts
}

/** SQL that adds outcomes to jobs. @param rows SQL of `JobCounts.asJson`. */
export function addToJobs(rows: string, where = 'TRUE'): string {
  return `
    INSERT INTO job_count AS c (job, partition, delivered, filtered, dead_lettered)
    SELECT job.number, row.partition, row.delivered, row.filtered, row.dead_lettered
    FROM json_to_recordset(${rows}::json)
      AS row(id text, partition bigint, delivered bigint, filtered bigint, dead_lettered bigint)
    JOIN job ON job.id = row.id WHERE ${where} ORDER BY 1, 2
    ON CONFLICT (job, partition) DO UPDATE SET delivered = c.delivered + excluded.delivered,
      filtered = c.filtered + excluded.filtered, dead_lettered = c.dead_lettered + excluded.dead_lettered`
}

const NO_BACKLOG = { letters: 0, letter_bytes: 0, expired: 0 }

interface BacklogSum {
  letters: number
  letter_bytes: number
  expired: number
}

interface GroupSum {
  letters: number
  oldest: number
  newest: number
}

function addToGroup(groups: Sums<GroupSum>, letter: DeadLetterWrite, names: NumberOf): void {
  const { deadAt } = letter
  const key = {
    destination: names(letter.destinationId),
    source: names(letter.sourceId),
    stage: STAGES.indexOf(letter.stage),
    reason: names(letter.reason),
    last_status: letter.lastStatus,
    minute: minuteOf(letter),
  }
  const sum = groups.of(key, { letters: 0, oldest: deadAt, newest: deadAt })
  sum.letters++
  sum.oldest = Math.min(sum.oldest, deadAt)
  sum.newest = Math.max(sum.newest, deadAt)
}

/** Sums by the columns of a key. */
class Sums<Sum extends object> {
  readonly #rows = new Map<string, Sum>()

  /** The sum of a key; a new one begins with `zero`. */
  of(key: Readonly<Record<string, number | string>>, zero: Sum): Sum {
    const id = JSON.stringify(key)
    const known = this.#rows.get(id)
    if (known !== undefined) return known
    const row = { ...key, ...zero }
    this.#rows.set(id, row)
    return row
  }

  asJson(): string | undefined {
    return this.#rows.size === 0 ? undefined : JSON.stringify([...this.#rows.values()])
  }
}
