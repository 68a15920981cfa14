import { DatabaseSync } from 'node:sqlite'
import { DEAD_LETTER_STATES } from '../../dead-letter-store.ts'
import { outcomeOfDeadLetter } from '../../outcomes/dead-letter-outcome.ts'
import type { RecordedOutcome, SoughtEvent } from '../../outcomes/outcomes-of-events.ts'
import { SoughtEvents, SoughtOutcomes } from '../../outcomes/sought-outcomes.ts'
import { LetterRanges } from '../letters/letter-ranges.ts'
import { StoredNames } from '../stored-names.ts'

/**
 * Reads the outcomes of many events through a read-only connection, outside the store's own thread. Use it in a
 * separate thread.
 */
export class OutcomeReader implements Disposable {
  readonly #db: DatabaseSync
  readonly #names: StoredNames
  readonly #ranges: LetterRanges
  readonly #statements

  /** @param file database of the delivery store, which has it open. */
  constructor(file: string) {
    const db = new DatabaseSync(file, { readOnly: true, timeout: 1_000 })
    this.#db = db
    this.#names = new StoredNames(db)
    this.#ranges = new LetterRanges(db, this.#names)
    this.#statements = {
      destinations: db.prepare('SELECT reader AS id FROM positions UNION SELECT destination FROM ranges'),
      ranges: db.prepare(
        `SELECT source, from_offset, to_offset, outcome, reason FROM ranges
         WHERE destination = ? AND partition = ? AND from_offset <= ? AND to_offset > ? ORDER BY id DESC`,
      ),
      blocks: db.prepare(
        `SELECT entries FROM blocks
         WHERE destination = ? AND partition = ? AND last_offset >= ? AND first_offset <= ? AND replay = 0`,
      ),
      replayBlocks: db.prepare(
        `SELECT entries FROM blocks
         WHERE destination = ? AND partition = ? AND last_offset >= ? AND first_offset <= ? AND replay > 0 ORDER BY id`,
      ),
      journeys: db.prepare(
        `SELECT offset, idx, outcome, reason FROM journeys
         WHERE destination = ? AND partition = ? AND offset >= ? AND offset <= ? AND replay = 0`,
      ),
      replayJourneys: db.prepare(
        `SELECT offset, idx, outcome, reason FROM journeys
         WHERE destination = ? AND partition = ? AND offset >= ? AND offset <= ? AND replay > 0 AND outcome <> 'waiting'`,
      ),
      deadLetters: db.prepare(
        `SELECT offset, idx, state, reason, end_reason FROM dead_letters
         WHERE destination = ? AND partition = ? AND offset >= ? AND offset <= ? ORDER BY id`,
      ),
    }
  }

  /** By event, in the given order. The cost grows with the number of outcomes between the first and the last offset. */
  outcomesOf(partition: number, events: readonly SoughtEvent[]): RecordedOutcome[][] {
    const found: RecordedOutcome[][] = events.map(() => [])
    if (events.length === 0) return found
    const sought = new SoughtEvents(events)
    for (const { id } of this.#statements.destinations.all() as { id: number }[]) {
      const destinationId = this.#names.text(id)
      for (const [at, { outcome, reason }] of this.#at(id, partition, sought)) {
        found[at]!.push({ destinationId, outcome, reason })
      }
    }
    return found
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }

  /** Outcomes of one destination. */
  #at(destination: number, partition: number, sought: SoughtEvents) {
    const { firstOffset: first, lastOffset: last } = sought
    const { ranges, blocks, replayBlocks, journeys, replayJourneys, deadLetters } = this.#statements
    const outcomes = new SoughtOutcomes(sought)
    for (const each of ranges.iterate(destination, partition, last, first)) {
      const { source, from_offset, to_offset, outcome, reason } = each as unknown as RangeRow
      const sourceId = source === null ? undefined : this.#names.text(source)
      outcomes.putRange({ sourceId, fromOffset: from_offset, toOffset: to_offset }, { outcome, reason })
    }
    // A replay of the log counts once it has an outcome.
    for (const [ofBlocks, ofJourneys] of [
      [blocks, journeys],
      [replayBlocks, replayJourneys],
    ] as const) {
      for (const { entries } of ofBlocks.iterate(destination, partition, first, last)) {
        outcomes.putEntries(entries as Uint8Array)
      }
      for (const each of ofJourneys.iterate(destination, partition, first, last)) {
        const journey = each as unknown as JourneyRow
        outcomes.put(journey.offset, journey.idx, journey)
      }
    }
    const packed = this.#ranges.between(destination, partition, first, last)
    const letters = deadLetters.all(destination, partition, first, last) as unknown as DeadLetterRow[]
    for (const { offset, idx, state, reason, end_reason } of [...packed, ...letters]) {
      const endReason = end_reason === null ? null : this.#names.text(end_reason)
      const letter = { state: DEAD_LETTER_STATES[state]!, reason: this.#names.text(reason), endReason }
      outcomes.put(offset, idx, outcomeOfDeadLetter(letter))
    }
    return outcomes.found
  }
}

interface RangeRow {
  source: number | null
  from_offset: number
  to_offset: number
  outcome: 'discarded' | 'expired'
  reason: string
}

interface JourneyRow {
  offset: number
  idx: number
  outcome: 'waiting' | 'delivered' | 'expired'
  reason: string | null
}

interface DeadLetterRow {
  offset: number
  idx: number
  state: number
  reason: number
  end_reason: number | null
}
