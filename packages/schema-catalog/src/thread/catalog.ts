import { randomBytes, randomUUID } from 'node:crypto'
import { type StoredEvent, storedEvents } from '@millrace/protocol'
import type { CatalogLimits } from '../limits.ts'
import { CatalogState } from '../observe/catalog-state.ts'
import type { CatalogSource, Model } from '../observe/model.ts'
import { Observer } from '../observe/observer.ts'
import type { HashSeed } from '../observe/value-hash.ts'
import { CatalogAnswers } from '../read/catalog-answers.ts'
import { CatalogDatabase, type CatalogFileUse } from '../store/catalog-database.ts'
import { SOURCES_LOST } from '../store/catalog-rows.ts'
import {
  purgeSource,
  removeNarrowed,
  removeSamplesBeyond,
  removeVersionValues,
  restartCounting,
} from '../store/removals.ts'
import type { Salvage } from '../store/salvage.ts'
import type { CatalogRecord, CatalogStream } from './catalog-log.ts'

const STREAMS: readonly CatalogStream[] = ['live', 'backfill']
/** Events after which a commit is due, whatever the time. */
const COMMIT_EVENTS = 200_000
/** Of what the file holds. 1: values are counted under the keys of their version, where there were others before. */
const FORM = 1

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
  /** By partition and stream. A log whose partitions count their offsets together is partition 0. */
  readonly #counted = new Map<number, number>()
  #eventsSinceCommit = 0
  #isChanged = false

  /** @throws NewerCatalogError, or what SQLite says of a damaged file. */
  constructor(file: string, limits: CatalogLimits, hooks: CatalogHooks, use: CatalogFileUse = {}) {
    this.#limits = limits
    this.#hooks = hooks
    this.#database = CatalogDatabase.open(file, use)
    try {
      for (const { partition, stream, position } of this.#database.all('SELECT * FROM positions')) {
        this.#counted.set(placeOf(partition, STREAMS[stream]!), position)
      }
      this.#state = new CatalogState(this.#database, limits, randomUUID)
      this.#observer = new Observer(this.#state, this.#database, this.#hashSeed(), hooks.onCut)
      this.answers = new CatalogAnswers(this.#database, this.#state)
      // What records its changes decides itself when a change of nearly everything is made.
      if (!this.isOutdated) this.#noteForm()
      else if (use.recordsChanges !== true) this.renew()
    } catch (error) {
      this.#database.close()
      throw error
    }
  }

  counted(stream: CatalogStream, partition = 0): number {
    return this.#counted.get(placeOf(partition, stream)) ?? 0
  }

  /** Whether a commit would write anything. */
  get isChanged(): boolean {
    return this.#isChanged || this.#state.areSourcesChanged || this.#database.hasTraces
  }

  /** Whether so much has been counted, or waits in memory, that it is time to commit. */
  get isCommitDue(): boolean {
    return this.#eventsSinceCommit >= COMMIT_EVENTS || this.#state.size().unsavedBytes >= this.#limits.cacheBytes / 2
  }

  /** Counts records of a stream. @param next where it is read on. */
  observe(stream: CatalogStream, records: readonly CatalogRecord[], next: number, partition = 0): void {
    for (const record of records) {
      const events = this.#eventsOf(record)
      this.#observer.observe(record.header, events, record.duplicates)
      this.#eventsSinceCommit += events.length
    }
    if (next === this.counted(stream, partition) && records.length === 0) return
    this.#counted.set(placeOf(partition, stream), next)
    this.#isChanged = true
  }

  /** Whether an earlier version, or a higher limit, left something that must go before anything is counted: see `renew`. */
  get isOutdated(): boolean {
    const { samples } = this.#limits
    return this.#number('form') !== FORM || (this.#number('samples') ?? Number.POSITIVE_INFINITY) > samples
  }

  /** Removes what is outdated, without traces. */
  renew(): void {
    this.#write()
    for (const { id } of [...this.#state.sources()]) this.#state.forgetSource(id)
    this.#database.commitWithoutTraces(() => {
      if (this.#number('form') !== FORM) removeVersionValues(this.#database)
      removeSamplesBeyond(this.#database, this.#limits.samples)
      this.#noteForm()
    })
    this.#committed()
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

  /** Gives the open transaction a number, which the file then has. */
  number(change: number): void {
    this.#setNumber('change', change)
  }

  /** Writes what is in memory, and gives what a commit would change in the file, under this number. */
  changes(change: number): Uint8Array {
    this.#write()
    this.number(change)
    return this.#database.changes()
  }

  /** Commits exactly what `changes` gave. */
  settle(): void {
    this.#database.commit()
    this.#committed()
  }

  /** @see CatalogDatabase.copyTo */
  copyTo(file: string): void {
    this.#database.copyTo(file)
  }

  knows(sourceId: string): boolean {
    return this.#database.get('SELECT 1 FROM sources WHERE id = ?', sourceId) !== undefined
  }

  /** Takes over what the control plane knows of its sources. What may not be kept any more is removed at once. */
  configure(sources: readonly CatalogSource[]): void {
    const changed = this.note(sources)
    if (changed.length > 0) this.narrow(changed)
    else if (this.#state.areSourcesChanged) this.commit()
  }

  /** The same, but nothing is removed yet. @returns sources of which something else may be kept than before: see `narrow`. */
  note(sources: readonly CatalogSource[]): readonly CatalogSource[] {
    return sources.filter((source) => this.#state.configure(source))
  }

  /** Removes what may not be kept any more of sources. */
  narrow(changed: readonly CatalogSource[]): void {
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
    this.#database.stopRecording()
    restartCounting(this.#database)
    this.#counted.clear()
    this.commit()
  }

  /**
   * Takes over ids from a database that could not be used any more: what is observed again has them. A deleted source keeps its
   * settings; one whose settings are lost keeps neither samples nor values.
   */
  adopt({ ids, sources, hasAllSources }: Salvage): void {
    this.note(sources)
    if (!hasAllSources) this.#setNumber(SOURCES_LOST, 1)
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
    for (const [place, position] of this.#counted) {
      const [partition, stream] = [Math.floor(place / STREAMS.length), place % STREAMS.length]
      this.#database.run('INSERT OR REPLACE INTO positions VALUES (?, ?, ?)', partition, stream, position)
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

  /** A new file has no seed yet. */
  #hashSeed(): HashSeed {
    if (this.#number('hash_a') === undefined) {
      for (const name of ['hash_a', 'hash_b']) this.#setNumber(name, randomBytes(4).readInt32LE())
      this.#noteForm()
    }
    return { a: this.#number('hash_a')!, b: this.#number('hash_b')! }
  }

  #noteForm(): void {
    this.#setNumber('form', FORM)
    this.#setNumber('samples', this.#limits.samples)
  }

  #number(name: string): number | undefined {
    return this.#database.get('SELECT value FROM numbers WHERE name = ?', name)?.['value']
  }

  #setNumber(name: string, value: number): void {
    this.#database.run('INSERT OR REPLACE INTO numbers VALUES (?, ?)', name, value)
  }
}

function placeOf(partition: number, stream: CatalogStream): number {
  return partition * STREAMS.length + STREAMS.indexOf(stream)
}
