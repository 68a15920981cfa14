import { hash } from 'node:crypto'
import type { PostgresPool, Queries } from '@millrace/postgres'
import type { Clock } from '@millrace/std'
import type { DeadLetterFilter } from '../dead-letter-store.ts'
import type { SoughtNames } from '../letters/letter-judge.ts'
import { storedText } from './stored-text.ts'

const MAX_REMEMBERED = 10_000
/** Much shorter than a text that nothing uses is kept (name-retention.ts). */
const REMEMBERED_MS = 3_600_000

type Reads = Pick<Queries, 'rows'>

/**
 * Stores ids and texts that many rows share as numbers. A name never changes, so every process may remember its number for a
 * while. A look-up ends the time of a text that nothing uses, which is dropped else.
 * New names are written before the transaction that uses them, which therefore never waits for another one here.
 * A caller that has a connection passes it: with a second one for the names, callers could hold all connections of the
 * pool and wait for each other.
 */
export class StoredNames {
  readonly #queries: Reads
  readonly #numbers = new Map<string, number>()
  readonly #clock: Clock
  #forgottenAt: number

  constructor(pool: PostgresPool, clock: Clock) {
    this.#clock = clock
    this.#forgottenAt = clock.monotonic()
    this.#queries = { rows: (text, values) => pool.query(text, values) }
  }

  /** The numbers of texts; unknown texts get new numbers. @param queries in no transaction. */
  async numbers(names: Iterable<string>, queries = this.#queries): Promise<(name: string) => number> {
    const texts = new Set(Array.from(names, storedText))
    const found = await this.#find(texts, queries)
    const unknown = new Map([...texts].filter((text) => !found.has(text)).map((text) => [digest(text), text]))
    if (unknown.size > 0) {
      const values = [[...unknown.keys()], [...unknown.values()]]
      await queries.rows(INSERT, values)
      for (const [name, number] of await this.#find(unknown.values(), queries)) found.set(name, number)
    }
    return (name) => found.get(name) ?? found.get(storedText(name))!
  }

  /** The number of a text; an unknown text gets a new number. */
  async number(name: string): Promise<number> {
    return (await this.numbers([name]))(name)
  }

  /** The number to search for: an unused number for an unknown text, undefined without a text. */
  async sought(name: string | undefined, queries = this.#queries): Promise<number | undefined> {
    if (name === undefined) return undefined
    const text = storedText(name)
    return (await this.#find([text], queries)).get(text) ?? UNUSED
  }

  /** The names that a filter of dead letters asks for. */
  async soughtBy({ sourceId, reason }: DeadLetterFilter, queries = this.#queries): Promise<SoughtNames> {
    return { source: await this.sought(sourceId, queries), reason: await this.sought(reason, queries) }
  }

  /** @param names as Postgres stores them: two texts that are stored alike are one name. */
  async #find(names: Iterable<string>, queries: Reads): Promise<Map<string, number>> {
    const found = new Map<string, number>()
    const unknown = new Map<string, string>()
    const now = this.#clock.monotonic()
    if (now - this.#forgottenAt >= REMEMBERED_MS) {
      this.#numbers.clear()
      this.#forgottenAt = now
    }
    for (const name of names) {
      const number = this.#numbers.get(name)
      if (number === undefined) unknown.set(digest(name), name)
      else found.set(name, number)
    }
    if (unknown.size === 0) return found
    const rows = await queries.rows<{ digest: string; id: number; isUnused: boolean }>(FIND, [[...unknown.keys()]])
    const unused = rows.filter(({ isUnused }) => isUnused).map(({ id }) => id)
    const kept = unused.length === 0 ? [] : await queries.rows<{ id: number }>(KEEP, [unused])
    const isKept = new Set(kept.map(({ id }) => id))
    for (const { digest, id, isUnused } of rows) {
      const name = unknown.get(digest)!
      if (isUnused) {
        // The caller may roll back: only the next look-up remembers it. It may also have been dropped meanwhile.
        if (isKept.has(id)) found.set(name, id)
        continue
      }
      found.set(name, id)
      if (this.#numbers.size >= MAX_REMEMBERED) this.#numbers.clear()
      this.#numbers.set(name, id)
    }
    return found
  }
}

/** SQL of the digest by which a stored text is found: there is no index on the text. */
export function digestOf(text: string): string {
  return `substring(sha256(convert_to(${text}, 'UTF8')) FOR 16)`
}

const UNUSED = -1
const FIND = `
  SELECT encode(digest, 'hex') AS digest, id, unused_since IS NOT NULL AS "isUnused" FROM name
  WHERE digest = ANY (SELECT decode(d, 'hex') FROM unnest($1::text[]) d)`
const KEEP = 'UPDATE name SET unused_since = NULL WHERE id = ANY ($1) RETURNING id'
const INSERT = `
  INSERT INTO name (digest, name) SELECT decode(digest, 'hex'), name FROM unnest($1::text[], $2::text[]) AS n(digest, name)
  ORDER BY digest ON CONFLICT DO NOTHING`

function digest(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32)
}
