import { renameSync, rmSync } from 'node:fs'
import { CatalogDatabase } from '../store/catalog-database.ts'

/** Of one file of SQLite. */
const SUFFIXES = ['', '-wal', '-shm']

/**
 * A file that follows the changes of the catalog: it begins empty or as a snapshot, and `apply` brings it from one change to the
 * next. The file is scratch.
 *
 * @see contracts/cluster.md §8 [K12]
 */
export class CatalogFile {
  readonly path: string
  #database: CatalogDatabase | undefined

  constructor(path: string) {
    this.path = path
  }

  /** @param snapshot the file that takes the place of this one; undefined: it begins empty. */
  replace(snapshot: string | undefined): LoadedCatalog {
    this.close()
    removeScratch(this.path)
    if (snapshot !== undefined) renameSync(snapshot, this.path)
    return this.open()
  }

  /** The file as of its last commit. @throws NewerCatalogError */
  open(): LoadedCatalog {
    this.close()
    this.#database = CatalogDatabase.open(this.path, { isScratch: true })
    return { change: this.#change(), isMigrated: this.#database.isMigrated }
  }

  get database(): CatalogDatabase {
    if (this.#database === undefined) throw new Error('the file of the catalog is not open')
    return this.#database
  }

  /** @returns the number of the change. @throws Error unless it follows the last one. */
  apply(changes: Uint8Array): number {
    const before = this.#change()
    this.database.apply(changes)
    const after = this.#change()
    if (after !== before + 1) throw new Error(`change ${after} of the catalog does not follow ${before}`)
    return after
  }

  close(): void {
    this.#database?.close()
    this.#database = undefined
  }

  #change(): number {
    return this.database.get("SELECT value FROM numbers WHERE name = 'change'")?.['value'] ?? 0
  }
}

/** Removes files of SQLite. */
export function removeScratch(...paths: readonly string[]): void {
  for (const path of paths) {
    for (const suffix of SUFFIXES) rmSync(`${path}${suffix}`, { force: true })
  }
}

export interface LoadedCatalog {
  /** The number of its last change; 0: it is empty. */
  readonly change: number
  /** Whether an earlier version wrote it: then no changes lead from its snapshot to what it is now. */
  readonly isMigrated: boolean
}

/** Where a snapshot of another process is written before it replaces the file. */
export function snapshotPath(file: string): string {
  return `${file}.snapshot`
}
