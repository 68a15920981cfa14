import { alikeLetters } from '../../letters/alike-letters.ts'
import type { Flush, PositionWrite } from '../../outcomes/flush.ts'
import { lockLeases, type OwnedShard } from '../lease-fence.ts'
import { addToBacklog, addToGroups } from '../letters/letter-counts.ts'
import { insertLetters, insertRanges, lettersAsJson, rangesAsJson } from '../letters/letter-rows.ts'
import { blocksAsJson, upsertBlocks } from '../outcomes/block-rows.ts'
import { journeysAsJson, type NumberOf, replayNumber, upsertJourneys } from '../outcomes/journey-rows.ts'
import { positionsAsJson, upsertPositions } from '../outcomes/position-rows.ts'
import type { PlacedBlock } from './block-writes.ts'
import { addToJobs, jobCounts, letterCounts } from './flush-counts.ts'

/** A flush with all that its statement needs. */
export interface PreparedFlush {
  readonly flush: Omit<Flush, 'blocks' | 'positions' | 'replayed'>
  readonly blocks: readonly PlacedBlock[]
  readonly positions: readonly PositionWrite[]
  /** The epochs of the shards that it writes for; undefined: nothing is fenced. */
  readonly owned: readonly OwnedShard[] | undefined
  readonly names: NumberOf
  /** Day of its blocks, in days since 1970. */
  readonly day: number
  readonly writer: number
  /** Number of the flush; undefined: it is a part of one whose number is written already. */
  readonly number: number | undefined
  readonly now: number
  /** Whose note of an event in a partition that runs alone ends. */
  readonly noteOf: (partition: number) => string
}

export interface FlushRow {
  /** The shards whose leases this process holds. */
  readonly held: readonly number[] | null
  /** Whether all leases are held: then the flush is written. */
  readonly isHeld: boolean
  /** Whether this statement wrote it; false if an earlier one did, whose answer was lost. */
  readonly isNew: boolean
}

/**
 * One statement that writes a flush, all of it or nothing. Its parts run under one condition: all leases are held under the
 * given epochs, and no flush of this number was written before, whose answer was lost.
 */
export function flushStatement(prepared: PreparedFlush): { text: string; values: unknown[] } {
  const { flush, blocks, positions, owned, names, writer, number, now } = prepared
  const { journeys, replaced, deadLetters, versions, delivered, rested } = flush
  const statement = new Statement()
  const go = '(SELECT ok FROM go)'
  if (owned === undefined) statement.add('held', 'SELECT TRUE AS ok')
  else {
    statement.add('fence', lockLeases(statement.value(JSON.stringify(owned))))
    statement.add('held', `SELECT count(*) = ${statement.value(owned.length)}::bigint AS ok FROM fence`)
  }
  if (number === undefined) statement.add('go', 'SELECT ok FROM held')
  else {
    const [w, n, at] = [writer, number, now].map((value) => `${statement.value(value)}::bigint`)
    statement.add(
      'once',
      `INSERT INTO writer AS w (number, flush, flushed_at) SELECT ${w}, ${n}, ${at} WHERE (SELECT ok FROM held)
       ON CONFLICT (number) DO UPDATE SET flush = excluded.flush, flushed_at = excluded.flushed_at
         WHERE w.flush < excluded.flush RETURNING 1`,
    )
    statement.add('go', 'SELECT EXISTS (SELECT 1 FROM once) AS ok')
  }
  if (versions.length > 0)
    statement.add('versions', upsertVersions(statement.value(versionsAsJson(versions, names)), go))
  if (blocks.length > 0) {
    const { rows, entries } = blocksAsJson(blocks, prepared)
    statement.add('blocks', upsertBlocks(statement.value(rows), statement.value(entries), go))
  }
  if (journeys.length > 0) {
    statement.add('journeys', upsertJourneys(statement.value(journeysAsJson(journeys, names)), go))
  }
  if (replaced.length + deadLetters.length > 0) {
    const rows = statement.value(placesAsJson([...replaced, ...deadLetters], names))
    statement.add('removed', deleteJourneys(rows, go))
  }
  const { groups, others } = alikeLetters(deadLetters)
  if (others.length > 0) statement.add('letters', insertLetters(statement.value(lettersAsJson(others, names)), go))
  if (groups.length > 0) statement.add('ranges', insertRanges(statement.value(rangesAsJson(groups, names)), go))
  const counts = letterCounts(flush, names)
  if (counts.groups !== undefined)
    statement.add('letter_groups', addToGroups(groupRows(statement.value(counts.groups), go)))
  if (counts.backlog !== undefined)
    statement.add('backlogs', addToBacklog(backlogRows(statement.value(counts.backlog), go)))
  const jobs = jobCounts({ journeys, deadLetters, blocks }).asJson()
  if (jobs !== undefined) statement.add('jobs', addToJobs(statement.value(jobs), go))
  if (delivered.length > 0) {
    const rows = delivered.map((each) => ({ ...each, destination: names(each.destinationId), writer }))
    statement.add('delivered', addToDelivered(statement.value(JSON.stringify(rows)), go))
  }
  if (positions.length > 0) {
    statement.add('positions', upsertPositions(statement.value(positionsAsJson(positions, names)), go))
  }
  if (rested.length > 0) {
    const notes = statement.value(rested.map(({ partition }) => prepared.noteOf(partition)))
    statement.add('rested', `DELETE FROM under_way WHERE process = ANY (${notes}::text[]) AND ${go}`)
  }
  const held = owned === undefined ? 'NULL::bigint[]' : '(SELECT array_agg(number) FROM fence)'
  return statement.select(`${held} AS held, (SELECT ok FROM held) AS "isHeld", ${go} AS "isNew"`)
}

/** Common table expressions and their values. */
class Statement {
  readonly #expressions: string[] = []
  readonly #values: unknown[] = []

  /** @returns SQL of the value. */
  value(value: unknown): string {
    return `$${this.#values.push(value)}`
  }

  add(name: string, sql: string): void {
    this.#expressions.push(`${name} AS (${sql})`)
  }

  select(columns: string): { text: string; values: unknown[] } {
    return { text: `WITH ${this.#expressions.join(',\n')}\nSELECT ${columns}`, values: this.#values }
  }
}

function upsertVersions(rows: string, where: string): string {
  return `
    INSERT INTO revision_versions (destination, revision, version_ids) SELECT destination, revision, version_ids
    FROM json_to_recordset(${rows}::json) AS row(destination bigint, revision bigint, version_ids text) WHERE ${where}
    ON CONFLICT (destination, revision) DO UPDATE SET version_ids = excluded.version_ids`
}

/** Several lanes of a destination may note the same revision. */
function versionsAsJson(versions: Flush['versions'], names: NumberOf): string {
  const rows = new Map<string, object>()
  for (const { destinationId, revision, versionIds } of versions) {
    const row = { destination: names(destinationId), revision, version_ids: JSON.stringify(versionIds) }
    rows.set(`${row.destination} ${revision}`, row)
  }
  return JSON.stringify([...rows.values()])
}

function placesAsJson(places: Flush['replaced'], names: NumberOf): string {
  return JSON.stringify(
    places.map(({ destinationId, partition, offset, index, replayId }) => {
      return { destination: names(destinationId), partition, offset, idx: index, replay: replayNumber(replayId, names) }
    }),
  )
}

function deleteJourneys(rows: string, where: string): string {
  return `
    DELETE FROM journey j USING json_to_recordset(${rows}::json)
      AS row(destination bigint, partition bigint, "offset" bigint, idx bigint, replay bigint)
    WHERE j.destination = row.destination AND j.partition = row.partition AND j."offset" = row."offset"
      AND j.idx = row.idx AND j.replay = row.replay AND ${where}`
}

function groupRows(rows: string, where: string): string {
  return `
    SELECT destination, source, stage, reason, last_status, minute, letters, oldest, newest
    FROM json_to_recordset(${rows}::json) AS row(destination bigint, source bigint, stage smallint, reason bigint,
      last_status bigint, minute bigint, letters bigint, oldest bigint, newest bigint) WHERE ${where}`
}

function backlogRows(rows: string, where: string): string {
  return `
    SELECT destination, partition, letters, letter_bytes, expired FROM json_to_recordset(${rows}::json)
      AS row(destination bigint, partition bigint, letters bigint, letter_bytes bigint, expired bigint) WHERE ${where}`
}

function addToDelivered(rows: string, where: string): string {
  return `
    INSERT INTO delivered_by_hour AS d (destination, hour, writer, delivered)
    SELECT destination, hour, writer, sum(count)
    FROM json_to_recordset(${rows}::json) AS row(destination bigint, hour bigint, writer bigint, count bigint)
    WHERE ${where} GROUP BY destination, hour, writer
    ON CONFLICT (destination, hour, writer) DO UPDATE SET delivered = d.delivered + excluded.delivered`
}
