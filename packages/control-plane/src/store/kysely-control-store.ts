import { setImmediate } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { AuditEntry } from '../audit/audit-entry.ts'
import type { CodeVersion, CodeVersionHeader, LibraryPin } from '../transformations/code.ts'
import { type Change, type CodeOwner, isConfiguration } from '../workspace/change.ts'
import type { SecretBox } from '../workspace/secret-box.ts'
import { insertAuditEntries, pruneAuditEntries, selectAuditEntries } from './audit-table.ts'
import { selectLibraryVersion, selectPinned, selectVersion, selectVersions } from './code-tables.ts'
import {
  type AuditQuery,
  type ControlStore,
  type NewWorkspace,
  StaleStateError,
  type StoredState,
  type StoredVersion,
  type WriteBeside,
  WrongSecretKeyError,
} from './control-store.ts'
import { loadState, selectVersionOfState } from './load-state.ts'
import type { Tables } from './tables.ts'
import { queriesIn } from './transaction-queries.ts'
import { writeChange } from './write-change.ts'

/** What differs between the databases. */
export interface ControlDatabase {
  readonly db: Kysely<Tables>
  /** Name of the database in errors. */
  readonly where: string
  readonly isShared: boolean
  /** Runs work in a transaction whose reads all see the same state. */
  reading<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T>
  /** Runs work in a transaction. If this throws, nothing changed, unless it is a CommitInDoubtError. */
  writing<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T>
  /** As `writing`; meanwhile no other process creates the workspace. */
  creating<T>(work: (db: Kysely<Tables>) => Promise<T>): Promise<T>
  /** Tells other processes of a commit as soon as it is stored. */
  announce(db: Kysely<Tables>): Promise<void>
  onHint(listener: () => void): () => void
  close(): Promise<void>
}

/** The control store on any database that Kysely supports, with transactions and unique constraints. */
export class KyselyControlStore implements ControlStore {
  readonly #database: ControlDatabase
  readonly #db: Kysely<Tables>
  readonly #secrets: SecretBox

  private constructor(database: ControlDatabase, secrets: SecretBox) {
    this.#database = database
    this.#db = database.db
    this.#secrets = secrets
  }

  /**
   * Creates the workspace if there is none.
   *
   * @param database with all tables.
   * @throws WrongSecretKeyError
   */
  static async open(
    database: ControlDatabase,
    secrets: SecretBox,
    newWorkspace: NewWorkspace,
  ): Promise<KyselyControlStore> {
    const keyCheck =
      (await selectKeyCheck(database.db)) ??
      (await database.creating(async (db) => (await selectKeyCheck(db)) ?? insertWorkspace(db, secrets, newWorkspace)))
    if (!secrets.fits(keyCheck)) throw new WrongSecretKeyError(database.where)
    return new KyselyControlStore(database, secrets)
  }

  get isShared(): boolean {
    return this.#database.isShared
  }

  load(): Promise<StoredState> {
    return this.#database.reading((db) => loadState(db, this.#secrets))
  }

  version(): Promise<StoredVersion> {
    return selectVersionOfState(this.#db)
  }

  onHint(listener: () => void): () => void {
    return this.#database.onHint(listener)
  }

  async commit(
    before: StoredVersion,
    changes: readonly Change[],
    entries: readonly AuditEntry[],
    beside?: WriteBeside,
  ): Promise<StoredVersion> {
    const after = {
      commits: before.commits + 1,
      revision: before.revision + (changes.some(isConfiguration) ? 1 : 0),
    }
    await this.#database.writing(async (db) => {
      // Locks the row: if two processes change the state at once, the second finds a different number.
      const { numUpdatedRows } = await db
        .updateTable('workspace')
        .set(after)
        .where('commits', '=', before.commits)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows !== 1n) throw new StaleStateError()
      for (const [i, change] of changes.entries()) {
        // The engine runs in this thread: a change of thousands of rows must not delay events.
        if (i % ROWS_PER_TURN === ROWS_PER_TURN - 1) await setImmediate()
        await writeChange(db, this.#secrets, change)
      }
      await beside?.(queriesIn(db))
      await insertAuditEntries(db, entries)
      await this.#database.announce(db)
    })
    return after
  }

  codeVersions(owner: CodeOwner, most: number): Promise<CodeVersionHeader[]> {
    return selectVersions(this.#db, owner, most)
  }

  codeVersion(owner: CodeOwner, id: string): Promise<CodeVersion | undefined> {
    return selectVersion(this.#db, owner, id)
  }

  libraryVersion(id: string): Promise<{ readonly libraryId: string; readonly version: CodeVersion } | undefined> {
    return selectLibraryVersion(this.#db, id)
  }

  pinnedVersions(pins: readonly LibraryPin[]): Promise<ReadonlyMap<string, CodeVersion>> {
    return selectPinned(this.#db, pins)
  }

  async noteTokenUse(tokenId: string, at: number): Promise<void> {
    await this.#db.updateTable('access_token').set({ last_used_at: at }).where('id', '=', tokenId).execute()
  }

  async noteSessionUse(sessionId: string, at: number): Promise<void> {
    await this.#db.updateTable('session').set({ last_used_at: at }).where('id', '=', sessionId).execute()
  }

  async addAuditEntries(entries: readonly AuditEntry[]): Promise<void> {
    await this.#database.writing((db) => insertAuditEntries(db, entries, true))
  }

  auditEntries(query: AuditQuery): Promise<AuditEntry[]> {
    return selectAuditEntries(this.#db, query)
  }

  pruneAuditEntries(before: number, most: number): Promise<number> {
    return pruneAuditEntries(this.#db, before, most)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database.close()
  }
}

const ROWS_PER_TURN = 50

async function selectKeyCheck(db: Kysely<Tables>): Promise<string | undefined> {
  return (await db.selectFrom('workspace').select('key_check').executeTakeFirst())?.key_check
}

async function insertWorkspace(db: Kysely<Tables>, secrets: SecretBox, workspace: NewWorkspace): Promise<string> {
  const { id, createdAt: created_at } = workspace
  const { keyCheck: key_check } = secrets
  const row = { id, commits: 0, revision: 0, key_check, ownership: null, created_at }
  await db.insertInto('workspace').values(row).execute()
  return key_check
}
