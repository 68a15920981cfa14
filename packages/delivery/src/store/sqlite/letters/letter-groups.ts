import type { DatabaseSync } from 'node:sqlite'
import type { DeadLetterFilter, DeadLetterGroup } from '../../dead-letter-store.ts'
import { needsPayload } from '../../letters/letter-judge.ts'
import { MAX_GROUPS } from '../../letters/letter-limits.ts'
import { STAGES } from '../../outcomes/flush.ts'
import type { StoredNames } from '../stored-names.ts'
import type { DeadLetterTable, LookedAt } from './dead-letter-table.ts'
import { letterCondition } from './letter-condition.ts'

const KEY = 'destination, stage, reason, last_status'

/**
 * Counts groups of similar dead letters. Counts of open dead letters are stored per minute. When some dead letters of a
 * minute end, the first and last time of that minute stay.
 */
export class LetterGroups {
  readonly #db: DatabaseSync
  readonly #names: StoredNames
  readonly #deadLetters: DeadLetterTable

  constructor(db: DatabaseSync, names: StoredNames, deadLetters: DeadLetterTable) {
    this.#db = db
    this.#names = names
    this.#deadLetters = deadLetters
  }

  /**
   * Largest first.
   * @param before returns groups before this one; null: all.
   * @param before those before this one; null: all.
   * @returns `next`, the place to continue from, null at the end. The caller adds up the groups of all calls; outcomes
   * may be written between calls.
   */
  of(filter: DeadLetterFilter, before: number | null): { groups: DeadLetterGroup[]; next: number | null } {
    const { state = 'open', from, to } = filter
    const isKept = state === 'open' && from === undefined && to === undefined && !needsPayload(filter)
    return isKept ? { groups: this.#kept(filter), next: null } : this.#counted({ ...filter, state }, before)
  }

  #kept({ destinationId, sourceId, reason, stage }: DeadLetterFilter): DeadLetterGroup[] {
    const { sql, values } = letterCondition({
      destination: this.#names.sought(destinationId),
      source: this.#names.sought(sourceId),
      reason: this.#names.sought(reason),
      stage: stage === undefined ? undefined : (STAGES as readonly string[]).indexOf(stage),
    })
    const rows = this.#db
      .prepare(
        `SELECT ${KEY}, sum(letters) AS count, min(oldest) AS oldest, max(newest) AS newest FROM letter_groups
         WHERE TRUE ${sql} GROUP BY ${KEY} ORDER BY count DESC, newest DESC LIMIT ${MAX_GROUPS}`,
      )
      .all(...values)
    return (rows as unknown as GroupRow[]).map((row) => this.#group(row))
  }

  #counted(filter: DeadLetterFilter, before: number | null): { groups: DeadLetterGroup[]; next: number | null } {
    const groups = new Map<string, GroupRow>()
    const next = this.#deadLetters.lookAt(filter, before, (letter) => addTo(groups, letter))
    return { groups: [...groups.values()].map((group) => this.#group(group)), next }
  }

  #group(row: GroupRow): DeadLetterGroup {
    return {
      destinationId: this.#names.text(row.destination),
      stage: STAGES[row.stage]!,
      reason: this.#names.text(row.reason),
      lastStatus: row.last_status,
      count: row.count,
      oldestAt: row.oldest,
      newestAt: row.newest,
    }
  }
}

function addTo(groups: Map<string, GroupRow>, row: LookedAt): void {
  const { destination, stage, reason, last_status, dead_at } = row
  const key = [destination, stage, reason, last_status].join()
  const group = groups.get(key) ?? {
    destination,
    stage,
    reason,
    last_status,
    count: 0,
    oldest: dead_at,
    newest: dead_at,
  }
  group.count++
  group.oldest = Math.min(group.oldest, dead_at)
  group.newest = Math.max(group.newest, dead_at)
  groups.set(key, group)
}

interface GroupRow {
  destination: number
  stage: number
  reason: number
  last_status: number
  count: number
  oldest: number
  newest: number
}
