import { readFileSync } from 'node:fs'
import path from 'node:path'
import { ALLOWED } from '../allow-list.ts'
import type { Entry, EntryActions } from './entry.ts'

const PREFIX = 'CATALOG_'

/** `loops` is the type `CATALOG_LOOPS`. */
export function typeNameOf(slug: string): string {
  return PREFIX + slug.toUpperCase().replaceAll('-', '_')
}

const slugs = new Map(Object.keys(ALLOWED).map((slug) => [typeNameOf(slug), slug]))

/** The entry of a type, such as `CATALOG_LOOPS`; undefined if it is not listed. */
export function slugOf(typeName: string): string | undefined {
  return slugs.get(typeName)
}

export function typeNames(): readonly string[] {
  return [...slugs.keys()]
}

/**
 * The generated descriptions of the listed entries, read from disk when first asked for: an installation without a catalog
 * destination holds none of them.
 *
 * @see contracts/destination-catalog.md §5 [C28]
 */
export class Entries {
  #entries: ReadonlyMap<string, Entry> | undefined
  readonly #actions = new Map<string, EntryActions>()

  get(slug: string): Entry {
    this.#entries ??= new Map(readJson<Entry[]>('entries.json').map((entry) => [entry.slug, entry]))
    return this.#entries.get(slug)!
  }

  actions(slug: string): EntryActions {
    let actions = this.#actions.get(slug)
    if (actions === undefined) {
      actions = readJson<EntryActions>(`actions/${slug}.json`)
      this.#actions.set(slug, actions)
    }
    return actions
  }
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(path.join(import.meta.dirname, file), 'utf8')) as T
}
