import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { DEAD_LETTER_STATES, type DeadLetterFilter, type DeadLetterGroup, STAGES } from './calls.ts'
import { letterJudge, needsPayload } from './letter-judge.ts'
import type { Names } from './names.ts'

/** Of an answer: texts of user code may make a reason for each event. */
export const MOST_GROUPS = 1_000
/** Dead letters looked at in one call; whoever asks goes on with the next, and outcomes are written in between. */
const MOST_LOOKED_AT = 10_000

const KEY = 'destination, stage, reason, last_status'

/**
 * Dead letters that came to be alike, counted. Of open ones counts are kept beside them, by minute: when some of a minute
 * leave, its first and last stay what they were.
 */
export class LetterGroups {
  readonly #db: DatabaseSync
  readonly #names: Names

  constructor(db: DatabaseSync, names: Names) {
    this.#db = db
    this.#names = names
  }

  /**
   * Largest first.
   *
   * @param before rows before this one; null: all.
   * @returns `next` is where to go on, null where nothing is left; groups of all calls are to be added up.
   */
  of(filter: DeadLetterFilter, before: number | null): { groups: DeadLetterGroup[]; next: number | null } {
    const { state = 'open', from, to } = filter
    const isKept = state === 'open' && from === undefined && to === undefined && !needsPayload(filter)
    return isKept ? { groups: this.#kept(filter), next: null } : this.#counted({ ...filter, state }, before)
  }

  #kept(filter: DeadLetterFilter): DeadLetterGroup[] {
    const { sql, values } = this.#condition(filter)
    const rows = this.#db
      .prepare(
        `SELECT ${KEY}, sum(letters) AS count, min(oldest) AS oldest, max(newest) AS newest FROM letter_groups
         WHERE TRUE ${sql} GROUP BY ${KEY} ORDER BY count DESC, newest DESC LIMIT ${MOST_GROUPS}`,
      )
      .all(...values)
    return (rows as unknown as GroupRow[]).map((row) => this.#group(row))
  }

  #counted(filter: DeadLetterFilter, before: number | null): { groups: DeadLetterGroup[]; next: number | null } {
    const { sql, values } = this.#condition(filter)
    const state = (DEAD_LETTER_STATES as readonly string[]).indexOf(filter.state!)
    // The index of those that ended is used only where this is said in its words.
    const inState = state > 0 ? `state > 0 AND state = ${state}` : 'state = 0'
    const event = needsPayload(filter) ? 'event' : "'' AS event"
    const isWanted = letterJudge(filter, this.#names)
    const groups = new Map<string, GroupRow>()
    const rows = this.#db
      .prepare(
        `SELECT id, ${KEY}, source, dead_at, ${event} FROM dead_letters WHERE ${inState} AND id < ? ${sql}
         ORDER BY id DESC LIMIT ${MOST_LOOKED_AT}`,
      )
      .all(before ?? Number.MAX_SAFE_INTEGER, ...values) as unknown as LetterRow[]
    for (const row of rows) if (isWanted(row)) addTo(groups, row)
    const next = rows.length === MOST_LOOKED_AT ? rows.at(-1)!.id : null
    return { groups: [...groups.values()].map((group) => this.#group(group)), next }
  }

  #condition({ destinationId, sourceId, reason, stage }: DeadLetterFilter): { sql: string; values: SQLInputValue[] } {
    let sql = ''
    const values: SQLInputValue[] = []
    const add = (column: string, value: number | undefined) => {
      if (value === undefined) return
      sql += ` AND ${column} = ?`
      values.push(value)
    }
    const numberOf = (name: string | undefined) => (name === undefined ? undefined : (this.#names.find(name) ?? -1))
    add('destination', numberOf(destinationId))
    add('source', numberOf(sourceId))
    add('reason', numberOf(reason))
    add('stage', stage === undefined ? undefined : (STAGES as readonly string[]).indexOf(stage))
    return { sql, values }
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

function addTo(groups: Map<string, GroupRow>, row: LetterRow): void {
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

interface GroupKey {
  destination: number
  stage: number
  reason: number
  last_status: number
}

interface GroupRow extends GroupKey {
  count: number
  oldest: number
  newest: number
}

interface LetterRow extends GroupKey {
  id: number
  source: number
  dead_at: number
  event: string
}
