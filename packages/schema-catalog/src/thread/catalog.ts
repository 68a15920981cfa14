import { randomBytes, randomUUID } from 'node:crypto'
import { type StoredEvent, storedEvents } from '@millrace/protocol'
import type { CatalogLimits } from '../limits.ts'
import { CatalogState } from '../observe/catalog-state.ts'
import type { CatalogSource, Model } from '../observe/model.ts'
import { Observer } from '../observe/observer.ts'
import type { HashSeed } from '../observe/value-hash.ts'
import { CatalogAnswers } from '../read/catalog-answers.ts'
import { CatalogDatabase } from '../store/catalog-database.ts'
import { purgeSource, removeNarrowed, restartCounting } from '../store/removals.ts'
import type { KnownId } from '../store/salvage.ts'
import type { CatalogRecord, CatalogStream } from './catalog-log.ts'

const STREAMS: readonly CatalogStream[] = ['live', 'backfill']
/** Events after which a commit is due, whatever the time. */
const COMMIT_EVENTS = 200_000

export interface CatalogHooks {
  readonly onCut: (model: Model) => void
  readonly onUnreadable: (offset: number, error: Error) => void
}

/**
 * Counts and positions, in memory and in one database: they are committed together or not at all, so a crash at any
 * moment leaves counts that are those of exactly the records before the positions.
 *
 * @see contracts/schema-catalog.md §4 [D308]
 */
export class Catalog {
  readonly answers: CatalogAnswers
  readonly #database: CatalogDatabase
  readonly #state: CatalogState
  readonly #observer: Observer
  readonly #limits: CatalogLimits
  readonly #hooks: CatalogHooks
  readonly #counted: Record<CatalogStream, number>
  #eventsSinceCommit = 0
  #isChanged = false

  /** @throws NewerCatalogError, or what SQLite says of a damaged file. */
  constructor(file: string, limits: CatalogLimits, hooks: CatalogHooks) {
    this.#limits = limits
    this.#hooks = hooks
    this.#database = CatalogDatabase.open(file)
    this.#counted = { live: this.#position(0), backfill: this.#position(1) }
    this.#state = new CatalogState(this.#database, limits, randomUUID)
    this.#observer = new Observer(this.#state, this.#database, this.#hashSeed(), hooks.onCut)
    this.answers = new CatalogAnswers(this.#database, this.#state)
  }

  counted(stream: CatalogStream): number {
    return this.#counted[stream]
  }

  /** Whether a commit would write anything. */
  get isChanged(): boolean {
    return this.#isChanged
  }

  /** Whether so much has been counted, or waits in memory, that it is time to commit. */
  get isCommitDue(): boolean {
    return this.#eventsSinceCommit >= COMMIT_EVENTS || this.#state.size().unsavedBytes >= this.#limits.cacheBytes / 2
  }

  /** Counts records of a stream. @param next where it is read on. */
  observe(stream: CatalogStream, records: readonly CatalogRecord[], next: number): void {
    for (const record of records) {
      const events = this.#eventsOf(record)
      this.#observer.observe(record.header, events, record.duplicates)
      this.#eventsSinceCommit += events.length
    }
    if (next === this.#counted[stream] && records.length === 0) return
    this.#counted[stream] = next
    this.#isChanged = true
  }

  /** Keeps what is in memory within its bound. */
  shrink(mostBytes = this.#limits.cacheBytes): void {
    this.#state.shrink(mostBytes, this.#observer.record)
  }

  /** Makes what was counted readable. Whatever is shown for the first time is on disk before. */
  prepareRead(): void {
    if (this.#state.hasNew) this.commit()
    else this.#state.writeHeads()
  }

  commit(): void {
    this.#write()
    this.#database.commit()
    this.#committed()
  }

  /** Takes over what the control plane knows of its sources. What may not be kept any more is removed at once. */
  configure(sources: readonly CatalogSource[]): void {
    const changed = sources.filter((source) => this.#state.configure(source))
    if (changed.length === 0) {
      if (this.#state.areSourcesChanged) this.commit()
      return
    }
    this.#write()
    for (const { id } of changed) this.#state.forgetSource(id)
    this.#database.commitWithoutTraces(() => {
      for (const source of changed) removeNarrowed(this.#database, source)
    })
    this.#committed()
  }

  /** @returns false if nothing is known of the source. */
  purge(sourceId: string): boolean {
    this.#write()
    this.#state.forgetSource(sourceId)
    let wasKnown = false
    this.#database.commitWithoutTraces(() => {
      wasKnown = purgeSource(this.#database, sourceId)
    })
    this.#state.forgetSource(sourceId)
    this.#committed()
    return wasKnown
  }

  /** Forgets all counts, but for the ids, and begins with the oldest record that there is. */
  restart(): void {
    this.#write()
    for (const { id } of [...this.#state.sources()]) this.#state.forgetSource(id)
    restartCounting(this.#database)
    for (const stream of STREAMS) this.#counted[stream] = 0
    this.commit()
  }

  /** Takes over ids from a database that could not be used any more: what is observed again has them. */
  adopt(ids: readonly KnownId[]): void {
    const sql = 'INSERT OR IGNORE INTO known VALUES (?, ?, ?, ?, ?, ?, ?)'
    for (const { source, type, identifier, shape, id, uuid, firstAt } of ids) {
      this.#database.run(sql, source, type, identifier, shape, id, uuid, firstAt)
    }
    for (const [table, isModel] of [
      ['models', true],
      ['versions', false],
    ] as const) {
      const last = Math.max(0, ...ids.filter(({ shape }) => (shape.length === 0) === isModel).map(({ id }) => id))
      this.#database.run('DELETE FROM sqlite_sequence WHERE name = ?', table)
      this.#database.run('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)', table, last)
    }
    this.commit()
  }

  close(): void {
    this.#database.close()
  }

  #write(): void {
    this.#state.write()
    for (const [number, stream] of STREAMS.entries()) {
      this.#database.run('INSERT OR REPLACE INTO positions VALUES (0, ?, ?)', number, this.#counted[stream])
    }
  }

  #committed(): void {
    this.#state.hasNew = false
    this.#isChanged = false
    this.#eventsSinceCommit = 0
  }

  /** A record that passed the gateway and cannot be read counts as empty, as it does for delivery. */
  #eventsOf(record: CatalogRecord): readonly StoredEvent[] {
    try {
      return storedEvents(record).events
    } catch (error) {
      this.#hooks.onUnreadable(record.offset, error as Error)
      return []
    }
  }

  #position(stream: number): number {
    const row = this.#database.get('SELECT position FROM positions WHERE partition = 0 AND stream = ?', stream)
    return row?.['position'] ?? 0
  }

  #hashSeed(): HashSeed {
    const number = (name: string) => {
      const row = this.#database.get('SELECT value FROM numbers WHERE name = ?', name)
      if (row !== undefined) return row['value'] as number
      const made = randomBytes(4).readInt32LE()
      this.#database.run('INSERT INTO numbers VALUES (?, ?)', name, made)
      return made
    }
    return { a: number('hash_a'), b: number('hash_b') }
  }
}
