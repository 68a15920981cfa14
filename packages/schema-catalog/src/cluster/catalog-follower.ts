import { open } from 'node:fs/promises'
import type { LoadedCatalog } from './catalog-file.ts'
import type { StoredCatalog, StoredCatalogState } from './stored-catalog.ts'

export interface FollowedFile {
  replace(snapshot: string | undefined): Promise<LoadedCatalog>
  apply(changes: Uint8Array): Promise<number>
}

/** A snapshot may be replaced while it is read; then the next one is. */
const MAX_SNAPSHOTS = 5

/** Brings a file to the last change that Postgres has. */
export class CatalogFollower {
  readonly #stored: StoredCatalog
  readonly #file: FollowedFile
  /** Where a snapshot is put together. */
  readonly #snapshotPath: string
  #change: number | undefined
  #isMigrated = false

  constructor(stored: StoredCatalog, file: FollowedFile, snapshotPath: string) {
    this.#stored = stored
    this.#file = file
    this.#snapshotPath = snapshotPath
  }

  /** The last change of the file. */
  get change(): number {
    return this.#change ?? 0
  }

  /** Whether an earlier version wrote the snapshot that the file began as. */
  get isMigrated(): boolean {
    return this.#isMigrated
  }

  /** The file has this change now, as of its last commit. @param change undefined: it is read anew, whatever it has. */
  moved(change: number | undefined): void {
    this.#change = change
  }

  /** @throws PostgresUnavailableError, or Error if the file cannot take a change: the next call reads all anew. */
  async catchUp(): Promise<StoredCatalogState> {
    for (let snapshots = 0; ; ) {
      const state = await this.#stored.state()
      if (this.#change === state.change) return state
      const isBehind = this.#change !== undefined && this.#change < state.change
      const changes = isBehind ? await this.#stored.change(this.#change! + 1) : undefined
      if (changes !== undefined) {
        await this.#apply(changes)
      } else {
        if (snapshots++ === MAX_SNAPSHOTS) throw new Error(`change ${this.change + 1} of the catalog is missing`)
        await this.#begin()
      }
    }
  }

  async #apply(changes: Uint8Array): Promise<void> {
    const before = this.#change
    this.#change = undefined
    const after = await this.#file.apply(changes)
    if (before !== undefined) this.#change = after
  }

  /** With the last snapshot; without one, empty. */
  async #begin(): Promise<void> {
    this.#change = undefined
    const newest = await this.#stored.snapshot()
    if (newest !== undefined && !(await this.#fetch(newest))) return
    const loaded = await this.#file.replace(newest === undefined ? undefined : this.#snapshotPath)
    this.#isMigrated = loaded.isMigrated
    this.#change = loaded.change
  }

  /** @returns whether all of it was there. */
  async #fetch({ change, pieces }: { readonly change: number; readonly pieces: number }): Promise<boolean> {
    const file = await open(this.#snapshotPath, 'w', 0o600)
    try {
      for (let piece = 0; piece < pieces; piece++) {
        const bytes = await this.#stored.piece(change, piece)
        if (bytes === undefined) return false
        await file.writeFile(bytes)
      }
      return true
    } finally {
      await file.close()
    }
  }
}
