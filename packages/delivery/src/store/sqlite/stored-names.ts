import type { DatabaseSync } from 'node:sqlite'
import type { DeadLetterFilter } from '../dead-letter-store.ts'
import type { SoughtNames } from '../letters/letter-judge.ts'

const MAX_REMEMBERED = 10_000

/** Stores ids and texts that many rows share as numbers: a row holds 1 to 4 bytes instead of the text. */
export class StoredNames {
  readonly #insert
  readonly #byName
  readonly #byId
  readonly #numbers = new Map<string, number>()
  readonly #texts = new Map<number, string>()

  constructor(db: DatabaseSync) {
    this.#insert = db.prepare('INSERT INTO names (name) VALUES (?) RETURNING id')
    this.#byName = db.prepare('SELECT id FROM names WHERE name = ?')
    this.#byId = db.prepare('SELECT name FROM names WHERE id = ?')
  }

  /** The number of a text; an unknown text gets a new number. */
  number(name: string): number {
    const known = this.find(name)
    if (known !== undefined) return known
    return this.#remember((this.#insert.get(name) as { id: number }).id, name)
  }

  find(name: string): number | undefined {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    const row = this.#byName.get(name) as { id: number } | undefined
    return row && this.#remember(row.id, name)
  }

  /** The number to search for: an unused number for an unknown text, undefined without a text. */
  sought(name: string | undefined): number | undefined {
    return name === undefined ? undefined : (this.find(name) ?? -1)
  }

  text(number: number): string {
    const known = this.#texts.get(number)
    if (known !== undefined) return known
    const { name } = this.#byId.get(number) as { name: string }
    this.#remember(number, name)
    return name
  }

  /** After a rollback the new numbers of the transaction are void. */
  forget(): void {
    this.#numbers.clear()
    this.#texts.clear()
  }

  #remember(number: number, name: string): number {
    if (this.#numbers.size >= MAX_REMEMBERED) this.forget()
    this.#numbers.set(name, number)
    this.#texts.set(number, name)
    return number
  }
}

/** The names that a filter of dead letters asks for. */
export function soughtNames({ sourceId, reason }: DeadLetterFilter, names: StoredNames): SoughtNames {
  return { source: names.sought(sourceId), reason: names.sought(reason) }
}
