import type {
  DeadLetterFilter,
  DeadLetterGroup,
  DeadLetterPage,
  DeadLetterRow,
  DeadLetterStore,
  Scope,
} from '../../dead-letter-store.ts'
import { needsPayload } from '../../letters/letter-judge.ts'
import { DISCARDED_BY_PERSON, MAX_GROUPS } from '../../letters/letter-limits.ts'
import { rowOfDeadLetterId } from '../../outcomes/dead-letter-id.ts'
import { STAGES } from '../../outcomes/flush.ts'
import type { StoredNames } from '../stored-names.ts'
import type { Transactions } from '../transactions.ts'
import type { ExpiredLetters } from './expired-letters.ts'
import type { LetterChanges } from './letter-changes.ts'
import type { LetterReads } from './letter-reads.ts'
import { LetterWalk, type LookedAt } from './letter-walk.ts'

export interface PostgresDeadLettersOptions {
  readonly transactions: Transactions
  readonly names: StoredNames
  readonly reads: LetterReads
  readonly changes: LetterChanges
  readonly expired: ExpiredLetters
}

export class PostgresDeadLetters implements DeadLetterStore {
  readonly #options: PostgresDeadLettersOptions
  readonly #walk: LetterWalk

  constructor(options: PostgresDeadLettersOptions) {
    this.#options = options
    this.#walk = new LetterWalk(options.transactions.pool, options.names)
  }

  async page({ filter, limit, before }: Parameters<DeadLetterStore['page']>[0]): Promise<DeadLetterPage> {
    const ids: number[] = []
    const next = await this.#walk.lookAt(filter, before, ({ id }) => ids.push(id) <= limit)
    const rows = await this.#options.reads.byRow(ids.slice(0, limit))
    return { rows, next: ids.length > limit ? ids[limit - 1]! : next }
  }

  async groups({ filter, before }: Parameters<DeadLetterStore['groups']>[0]) {
    const { state = 'open', from, to } = filter
    const isKept = state === 'open' && from === undefined && to === undefined && !needsPayload(filter)
    if (isKept) return { groups: await this.#keptGroups(filter), next: null }
    const groups = new Map<string, GroupSum>()
    const next = await this.#walk.lookAt({ ...filter, state }, before, (letter) => addTo(groups, letter))
    return { groups: await this.#named([...groups.values()]), next }
  }

  get(id: string): Promise<DeadLetterRow | undefined> {
    return this.#options.reads.get(id)
  }

  async events(ids: readonly string[]): Promise<(string | undefined)[]> {
    const rows = ids.map(rowOfDeadLetterId)
    const found = await this.#options.reads.byRow(rows.filter((row) => row !== undefined))
    const byId = new Map(found.map(({ id, event }) => [id, event]))
    return ids.map((id) => byId.get(id))
  }

  async countOpen({ destinationId, sourceId }: Scope): Promise<number> {
    const { names, transactions } = this.#options
    const [row] = await transactions.pool.query<{ count: number }>(
      `SELECT coalesce(sum(letters), 0)::bigint AS count FROM letter_group
       WHERE ($1::bigint IS NULL OR destination = $1) AND ($2::bigint IS NULL OR source = $2)`,
      [(await names.sought(destinationId)) ?? null, (await names.sought(sourceId)) ?? null],
    )
    return row!.count
  }

  async countOpenByDestination(): Promise<[destinationId: string, count: number][]> {
    const rows = await this.#options.transactions.pool.query<{ name: string; count: number }>(
      `SELECT name.name, sum(letters)::bigint AS count FROM backlog JOIN name ON name.id = destination
       GROUP BY name.name HAVING sum(letters) > 0`,
    )
    return rows.map(({ name, count }) => [name, count])
  }

  async discard({ id, at }: { id: string; at: number }): Promise<DeadLetterRow | undefined> {
    const { names, transactions, reads, changes } = this.#options
    const row = rowOfDeadLetterId(id)
    if (row === undefined) return undefined
    const reason = await names.number(DISCARDED_BY_PERSON)
    return transactions.write(async (queries) => {
      await queries.rows('SELECT id FROM dead_letter WHERE id = $1 FOR UPDATE', [row])
      const letter = await reads.get(id, queries)
      if (letter?.state !== 'open') return letter
      const discarded = await changes.discard(queries, [row], reason, at)
      return discarded.length > 0 ? letter : reads.get(id, queries)
    })
  }

  expire(request: Parameters<DeadLetterStore['expire']>[0]): ReturnType<DeadLetterStore['expire']> {
    return this.#options.expired.expire(request)
  }

  async #keptGroups({ destinationId, sourceId, reason, stage }: DeadLetterFilter): Promise<DeadLetterGroup[]> {
    const { names, transactions } = this.#options
    const sought = [await names.sought(destinationId), await names.sought(sourceId), await names.sought(reason)]
    const stageNumber = stage === undefined ? undefined : (STAGES as readonly string[]).indexOf(stage)
    const values = [...sought, stageNumber].map((value) => value ?? null)
    return this.#named(await transactions.pool.query<GroupSum>(KEPT_GROUPS, values))
  }

  async #named(sums: readonly GroupSum[]): Promise<DeadLetterGroup[]> {
    const ids = [...new Set(sums.flatMap(({ destination, reason }) => [destination, reason]))]
    const rows = await this.#options.transactions.pool.query<{ id: number; name: string }>(
      'SELECT id, name FROM name WHERE id = ANY ($1)',
      [ids],
    )
    const names = new Map(rows.map(({ id, name }) => [id, name]))
    return sums.map((sum) => ({
      destinationId: names.get(sum.destination)!,
      stage: STAGES[sum.stage]!,
      reason: names.get(sum.reason)!,
      lastStatus: sum.last_status,
      count: sum.count,
      oldestAt: sum.oldest,
      newestAt: sum.newest,
    }))
  }
}

const KEY = 'destination, stage, reason, last_status'
const KEPT_GROUPS = `
  SELECT ${KEY}, sum(letters)::bigint AS count, min(oldest) FILTER (WHERE letters > 0) AS oldest,
    max(newest) FILTER (WHERE letters > 0) AS newest
  FROM letter_group
  WHERE letters <> 0 AND ($1::bigint IS NULL OR destination = $1) AND ($2::bigint IS NULL OR source = $2)
    AND ($3::bigint IS NULL OR reason = $3) AND ($4::smallint IS NULL OR stage = $4)
  GROUP BY ${KEY} HAVING sum(letters) > 0 ORDER BY count DESC, newest DESC LIMIT ${MAX_GROUPS}`

interface GroupSum {
  readonly destination: number
  readonly stage: number
  readonly reason: number
  readonly last_status: number
  count: number
  oldest: number
  newest: number
}

function addTo(groups: Map<string, GroupSum>, { destination, stage, reason, last_status, dead_at }: LookedAt): true {
  const key = [destination, stage, reason, last_status].join()
  const begun = { destination, stage, reason, last_status, count: 0, oldest: dead_at, newest: dead_at }
  const group = groups.get(key) ?? begun
  group.count++
  group.oldest = Math.min(group.oldest, dead_at)
  group.newest = Math.max(group.newest, dead_at)
  groups.set(key, group)
  return true
}
