import type { PostgresConnection, PostgresPool, Queries } from '@millrace/postgres'
import type { Clock } from '@millrace/std'
import type { Flush, FlushAnswer, RefusedRow } from '../../outcomes/flush.ts'
import { partitionsOf } from '../../outcomes/flush-of-shards.ts'
import type { ShardFence } from '../../shard-fence.ts'
import { type DayTables, dayOf } from '../day-tables.ts'
import { lostShards, type OwnedShard, ownedShards } from '../lease-fence.ts'
import { namesOfLetter } from '../letters/letter-rows.ts'
import { type NumberOf, namesOfJourney } from '../outcomes/journey-rows.ts'
import type { StoredNames } from '../stored-names.ts'
import { repeated } from '../transactions.ts'
import type { BlockRows } from './block-writes.ts'
import { refusedRows } from './flush-check.ts'
import { FlushConnection } from './flush-connection.ts'
import { partsOf } from './flush-parts.ts'
import { type FlushRow, flushStatement, type PreparedFlush } from './flush-statement.ts'
import { namesOfReplayed, writeReplayed } from './replayed-writes.ts'
import type { WrittenPositions } from './written-positions.ts'

export interface FlushWriterOptions {
  readonly pool: PostgresPool
  readonly names: StoredNames
  readonly days: DayTables
  readonly blocks: BlockRows
  readonly fence: ShardFence | undefined
  readonly clock: Clock
  /** Number of this process among the writers. */
  readonly writer: number
  readonly written: WrittenPositions
  readonly noteOf: PreparedFlush['noteOf']
}

/**
 * Writes the outcomes of all destinations in one transaction, under the epochs of their shards. A flush whose answer was
 * lost is repeated with its number, so it is written once. The caller repeats each flush until it is written, without rows
 * that were refused or belong to lost shards.
 */
export class FlushWriter {
  readonly #options: FlushWriterOptions
  readonly #connection: FlushConnection
  readonly #positions: WrittenPositions
  /** Number of the last flush that Postgres told us it has. A repetition with fewer rows keeps the number of its flush. */
  #written = 0

  constructor(options: FlushWriterOptions) {
    this.#options = options
    this.#connection = new FlushConnection(options.pool)
    this.#positions = options.written
  }

  async write(flush: Flush): Promise<FlushAnswer> {
    const rows = refusedRows(flush)
    if (rows.length > 0) return { kind: 'refused', rows }
    const shards = this.#owned(flush)
    if (shards.lost.length > 0) return { kind: 'fenced', shards: shards.lost }
    const names = await this.#connection.use((connection) => this.#options.names.numbers(namesOf(flush), connection))
    try {
      const answer = await this.#write(flush, shards.owned, names)
      if (answer.kind === 'written') {
        this.#written++
        this.#positions.note(flush.positions)
      } else this.#options.blocks.close()
      return answer
    } catch (error) {
      this.#options.blocks.close()
      throw error
    }
  }

  /** Ends the connection of the flushes. */
  close(): void {
    this.#connection.close()
  }

  async #write(flush: Flush, owned: readonly OwnedShard[] | undefined, names: NumberOf): Promise<FlushAnswer> {
    const { days, clock, blocks } = this.#options
    const day = dayOf(clock.now())
    if (flush.blocks.length > 0) await days.make(day)
    const prepare = (): PreparedFlush => ({
      ...{ flush, owned, names, day, number: this.#written + 1, now: clock.now() },
      ...{ blocks: blocks.place(flush.blocks, day), positions: this.#positions.moved(flush.positions) },
      ...{ writer: this.#options.writer, noteOf: this.#options.noteOf },
    })
    try {
      return await repeated(() => this.#connection.use((connection) => this.#send(connection, flush, prepare())))
    } catch (error) {
      if (isOfARow(error)) return this.#oneByOne(flush, prepare())
      if (!isMissingDay(error)) throw error
      blocks.close()
      days.forget()
      await days.make(day)
      return this.#connection.use((connection) => this.#send(connection, flush, prepare()))
    }
  }

  async #send(connection: PostgresConnection, flush: Flush, prepared: PreparedFlush): Promise<FlushAnswer> {
    const [first, ...others] = partsOf(prepared)
    if (others.length + flush.replayed.length === 0) return answerOf(await runFlush(connection, first), first)
    return inTransaction(connection, async (queries) => {
      const row = await runFlush(queries, first)
      if (row.isNew) {
        for (const part of others) await runFlush(queries, part)
        if (flush.replayed.length > 0) await this.#writeReplayed(queries, flush.replayed, prepared.names)
      }
      return answerOf(row, first)
    })
  }

  /** A replayed dead letter of a shard that another process owns stays as it is: that process replays it. */
  async #writeReplayed(queries: Queries, replayed: Flush['replayed'], names: NumberOf): Promise<void> {
    const { fence } = this.#options
    await writeReplayed(queries, replayed, names, async (partitions) => {
      if (fence === undefined) return () => false
      const lost = await lostShards(queries, fence, partitions)
      if (lost.length > 0) fence.onFenced(lost)
      return (partition) => lost.includes(fence.shardOf(partition))
    })
  }

  /**
   * After Postgres refused a flush because of a row that the checks let pass: finds the row. If every row can be written
   * alone, the flush is written.
   */
  async #oneByOne(flush: Flush, prepared: PreparedFlush): Promise<FlushAnswer> {
    return this.#connection.use((connection) =>
      inTransaction(connection, async (queries) => {
        const empty = { ...prepared, flush: NOTHING, blocks: [], positions: [] }
        const row = await runFlush(queries, empty)
        const answer = answerOf(row, empty)
        if (!row.isNew) return answer
        const rows = await this.#refusedOf(queries, flush, { ...empty, owned: undefined, number: undefined })
        return rows.length === 0 ? answer : { kind: 'refused', rows }
      }),
    )
  }

  async #refusedOf(queries: Queries, flush: Flush, empty: PreparedFlush): Promise<RefusedRow[]> {
    const { blocks } = this.#options
    const refused: RefusedRow[] = []
    for (const part of Object.keys(flush) as (keyof Flush)[]) {
      for (const [at, row] of flush[part].entries()) {
        await queries.run('SAVEPOINT one_row')
        try {
          if (part === 'replayed') await this.#writeReplayed(queries, [flush.replayed[at]!], empty.names)
          else if (part === 'blocks') {
            await runFlush(queries, { ...empty, blocks: blocks.placeAlone([flush.blocks[at]!]) })
          } else if (part === 'positions') await runFlush(queries, { ...empty, positions: [flush.positions[at]!] })
          else await runFlush(queries, { ...empty, flush: { ...NOTHING, [part]: [row] } })
        } catch (error) {
          if (!isOfARow(error)) throw error
          await queries.run('ROLLBACK TO one_row')
          refused.push({ part, at, cause: (error as Error).message })
        }
        await queries.run('RELEASE one_row')
      }
    }
    return refused
  }

  #owned(flush: Flush): { readonly owned: readonly OwnedShard[] | undefined; readonly lost: readonly number[] } {
    const { fence } = this.#options
    return fence === undefined ? { owned: undefined, lost: [] } : ownedShards(fence, partitionsOf(flush))
  }
}

const NOTHING: PreparedFlush['flush'] = {
  ...{ journeys: [], replaced: [], deadLetters: [], versions: [], delivered: [], rested: [] },
}

async function runFlush(queries: Queries, prepared: PreparedFlush): Promise<FlushRow> {
  const { text, values } = flushStatement(prepared)
  return (await queries.rows<FlushRow>(text, values))[0]!
}

function answerOf({ held, isHeld }: FlushRow, { owned }: PreparedFlush): FlushAnswer {
  if (isHeld) return { kind: 'written' }
  const numbers = new Set(held)
  return { kind: 'fenced', shards: owned!.map(({ number }) => number).filter((number) => !numbers.has(number)) }
}

/** Rolls back unless the answer is that the flush is written. */
async function inTransaction(
  connection: PostgresConnection,
  work: (queries: Queries) => Promise<FlushAnswer>,
): Promise<FlushAnswer> {
  let answer: FlushAnswer | undefined
  try {
    await connection.transaction(async (queries) => {
      answer = await work(queries)
      if (answer.kind !== 'written') throw new UndoneError()
    })
  } catch (error) {
    if (!(error instanceof UndoneError)) throw error
  }
  return answer!
}

/** Rolls the transaction back. */
class UndoneError extends Error {
  override name = 'UndoneError'
  readonly code = 'UNDONE'
}

function namesOf({
  blocks,
  journeys,
  replaced,
  deadLetters,
  replayed,
  positions,
  versions,
  delivered,
}: Flush): Set<string> {
  return new Set([
    ...[...blocks, ...replaced].flatMap(({ destinationId, replayId }) => [destinationId, replayId ?? destinationId]),
    ...journeys.flatMap(namesOfJourney),
    ...deadLetters.flatMap(namesOfLetter),
    ...replayed.flatMap(namesOfReplayed),
    ...positions.map(({ reader }) => reader),
    ...[...versions, ...delivered].map(({ destinationId }) => destinationId),
  ])
}

/**
 * Whether the content of a row caused an error (SQLSTATE classes 21, 22, 23 and 54): then the database works. A missing day
 * table counts as a violated constraint, too.
 */
function isOfARow(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException
  return /^(?:2[123]|54)[0-9A-Z]{3}$/.test(code) && !isMissingDay(error)
}

function isMissingDay(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  return code === '23514' && message.startsWith('no partition of relation')
}
