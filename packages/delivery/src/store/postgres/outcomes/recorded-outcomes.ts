import type { PostgresPool } from '@millrace/postgres'
import type { OutcomeStore, Recorded } from '../../outcome-store.ts'
import { ENTRY_BYTES, readEntry } from '../../outcomes/outcome-block.ts'
import { recordedAtDestination } from '../../outcomes/recorded-at-destination.ts'
import { MAX_BLOCK_SPAN } from '../flush/block-writes.ts'
import type { LetterReads } from '../letters/letter-reads.ts'
import type { StoredNames } from '../stored-names.ts'
import { JOURNEY, JOURNEY_NAMES, type JourneyRow, journeyOf } from './journey-rows.ts'
import { versionsOf } from './version-ids.ts'

/** SQL of the destinations that may have an outcome of an event. */
export const DESTINATIONS = 'SELECT reader FROM position UNION SELECT destination FROM outcome_range'

type Delivery = Extract<Recorded, { kind: 'plain' | 'journey' }>

/** The records of one event at all destinations. */
export class RecordedOutcomes {
  readonly #pool: PostgresPool
  readonly #names: StoredNames
  readonly #letters: LetterReads

  constructor(pool: PostgresPool, names: StoredNames, letters: LetterReads) {
    this.#pool = pool
    this.#names = names
    this.#letters = letters
  }

  /** @see OutcomeStore.recorded */
  async at(place: Parameters<OutcomeStore['recorded']>[0]): Promise<[destinationId: string, Recorded][]> {
    const { partition, offset, index, sourceId } = place
    const destinations = await this.#pool.query<{ id: number; name: string }>(
      `SELECT id, name FROM name WHERE id IN (${DESTINATIONS}) ORDER BY id`,
    )
    const ids = destinations.map(({ id }) => id)
    const at = { partition, offset, index }
    const deliveries = await this.deliveries(ids, at)
    const letters = await this.#letters.newestAt(ids, at)
    const ranges = await this.#ranges(ids, at, sourceId)
    return destinations.flatMap(({ id, name }) => {
      const [letter, range] = [letters.get(name), ranges.get(id)]
      const records = {
        deliveries: deliveries.get(name) ?? [],
        letter: letter && ({ kind: 'dead_letter', ...letter } as const),
        range,
      }
      return recordedAtDestination(records).map((each): [string, Recorded] => [name, each])
    })
  }

  /**
   * By destination: the outcomes of an event in blocks and journeys, at most one of its first delivery, and one of each
   * replay.
   */
  async deliveries(
    destinations: readonly number[],
    { partition, offset, index }: { partition: number; offset: number; index: number },
  ): Promise<Map<string, Delivery[]>> {
    const found = new Map<string, Map<string | null, Delivery>>()
    const at = (destinationId: string) =>
      found.get(destinationId) ?? found.set(destinationId, new Map()).get(destinationId)!
    const journeys = await this.#pool.query<JourneyRow & { versionIds: string | null }>(JOURNEYS, [
      ...[destinations, partition, offset, index],
    ])
    for (const { versionIds, ...row } of journeys) {
      const journey = journeyOf(row)
      const versions = versionsOf(versionIds)
      at(row.destinationId).set(row.replayId, { kind: 'journey', ...journey, versionIds: versions })
    }
    const blocks = await this.#pool.query<BlockRow>(BLOCKS, [destinations, partition, offset])
    for (const { destinationId, replayId, revision, entries, versionIds } of blocks) {
      const known = at(destinationId)
      // Of the first delivery, the journey is the newer record; replays are told apart by their ids.
      if (replayId === null && known.has(null)) continue
      const entry = entryAt(entries, offset, index)
      if (entry === undefined) continue
      known.set(replayId, { kind: 'plain', ...entry, revision, replayId, versionIds: versionsOf(versionIds) })
    }
    return new Map(
      [...found].map(([id, each]) => [
        id,
        [...each.values()].sort((a, b) => Number(a.replayId !== null) - Number(b.replayId !== null) || a.at - b.at),
      ]),
    )
  }

  async #ranges(
    destinations: readonly number[],
    { partition, offset }: { partition: number; offset: number },
    sourceId: string,
  ): Promise<Map<number, Recorded>> {
    const rows = await this.#pool.query<{ destination: number; outcome: 'discarded' | 'expired'; reason: string }>(
      RANGES,
      [...[destinations, partition, offset, await this.#names.sought(sourceId)]],
    )
    return new Map(rows.map(({ destination, outcome, reason }) => [destination, { kind: 'range', outcome, reason }]))
  }
}

function entryAt(entries: Buffer, offset: number, index: number) {
  for (let at = 0; at < entries.length; at += ENTRY_BYTES) {
    const { offset: foundOffset, index: foundIndex, ...entry } = readEntry(entries, at)
    if (foundOffset === offset && foundIndex === index) return entry
  }
  return undefined
}

const JOURNEYS = `
  SELECT ${JOURNEY}, v.version_ids AS "versionIds" FROM journey j ${JOURNEY_NAMES}
  LEFT JOIN revision_versions v ON v.destination = j.destination AND v.revision = j.revision
  WHERE j.destination = ANY ($1) AND j.partition = $2 AND j."offset" = $3 AND j.idx = $4`

const BLOCKS = `
  SELECT d.name AS "destinationId", r.name AS "replayId", b.revision, b.entries, v.version_ids AS "versionIds"
  FROM block b JOIN name d ON d.id = b.destination LEFT JOIN name r ON r.id = b.replay
  LEFT JOIN revision_versions v ON v.destination = b.destination AND v.revision = b.revision
  WHERE b.destination = ANY ($1) AND b.partition = $2 AND b.first_offset <= $3
    AND b.last_offset BETWEEN $3 AND $3::bigint + ${MAX_BLOCK_SPAN}
  ORDER BY b.day, b.writer, b.number`

const RANGES = `
  SELECT DISTINCT ON (destination) destination, outcome, reason FROM outcome_range
  WHERE destination = ANY ($1) AND partition = $2 AND from_offset <= $3 AND to_offset > $3
    AND (source IS NULL OR source = $4)
  ORDER BY destination, id`

interface BlockRow {
  readonly destinationId: string
  readonly replayId: string | null
  readonly revision: number
  readonly entries: Buffer
  readonly versionIds: string | null
}
