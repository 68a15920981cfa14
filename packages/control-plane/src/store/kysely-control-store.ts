import { setImmediate } from 'node:timers/promises'
import type { Kysely, Transaction } from 'kysely'
import { Migrator } from 'kysely/migration'
import type { AuditEntry } from '../audit/audit-entry.ts'
import type { CodeVersion, CodeVersionHeader, LibraryPin } from '../transformations/code.ts'
import { type Change, type CodeOwner, isConfiguration } from '../workspace/change.ts'
import type { SecretBox } from '../workspace/secret-box.ts'
import { insertAuditEntries, pruneAuditEntries, selectAuditEntries } from './audit-table.ts'
import {
  putLibrary,
  putTransformation,
  putVersion,
  selectLibraryVersion,
  selectPinned,
  selectVersion,
  selectVersions,
} from './code-tables.ts'
import {
  type AuditQuery,
  type ControlStore,
  StaleStateError,
  type StoredState,
  type StoredVersion,
  WrongSecretKeyError,
} from './control-store.ts'
import { credentialContext, loadState } from './load-state.ts'
import { MIGRATIONS, type Tables } from './tables.ts'

export interface NewWorkspace {
  readonly id: string
  readonly createdAt: number
}

/** The control store on any database that Kysely supports, with transactions and unique constraints. */
export class KyselyControlStore implements ControlStore {
  readonly #db: Kysely<Tables>
  readonly #secrets: SecretBox

  private constructor(db: Kysely<Tables>, secrets: SecretBox) {
    this.#db = db
    this.#secrets = secrets
  }

  /**
   * Migrates the tables and creates the workspace if there is none.
   *
   * @param where name of the database in errors.
   * @throws WrongSecretKeyError
   */
  static async open(
    db: Kysely<Tables>,
    secrets: SecretBox,
    newWorkspace: NewWorkspace,
    where: string,
  ): Promise<KyselyControlStore> {
    const { error } = await new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } }).migrateToLatest()
    if (error !== undefined) throw new Error(`${where} could not be migrated`, { cause: error })
    const workspace = await db.selectFrom('workspace').select('key_check').executeTakeFirst()
    if (workspace === undefined) await insertWorkspace(db, secrets, newWorkspace)
    else if (!secrets.fits(workspace.key_check)) throw new WrongSecretKeyError(where)
    return new KyselyControlStore(db, secrets)
  }

  async load(): Promise<StoredState> {
    return this.#db.transaction().execute((db) => loadState(db, this.#secrets))
  }

  async commit(
    before: StoredVersion,
    changes: readonly Change[],
    entries: readonly AuditEntry[],
  ): Promise<StoredVersion> {
    const after = {
      commits: before.commits + 1,
      revision: before.revision + (changes.some(isConfiguration) ? 1 : 0),
    }
    await this.#db.transaction().execute(async (db) => {
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
        await this.#write(db, change)
      }
      await insertAuditEntries(db, entries)
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
    await this.#db.transaction().execute((db) => insertAuditEntries(db, entries))
  }

  auditEntries(query: AuditQuery): Promise<AuditEntry[]> {
    return selectAuditEntries(this.#db, query)
  }

  pruneAuditEntries(before: number, most: number): Promise<number> {
    return pruneAuditEntries(this.#db, before, most)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#db.destroy()
  }

  async #write(db: Transaction<Tables>, change: Change): Promise<void> {
    if (change.kind === 'ownership') {
      await db
        .updateTable('workspace')
        .set({ ownership: JSON.stringify(change.value) })
        .execute()
      return
    }
    if (change.kind === 'code-version') return putVersion(db, change)
    if (change.value === undefined) {
      if (change.kind === 'access-token') await db.deleteFrom('session').where('token_id', '=', change.id).execute()
      await db.deleteFrom(TABLE_OF[change.kind]).where('id', '=', change.id).execute()
      return
    }
    const { id } = change
    const { createdAt: created_at } = change.value
    switch (change.kind) {
      case 'source': {
        const { partition, ...rest } = change.value
        const row = { key: rest.key, write_key: rest.writeKey, partition, document: JSON.stringify(rest) }
        await db
          .insertInto('source')
          .values({ id, created_at, ...row })
          .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
          .execute()
        return
      }
      case 'destination': {
        const { config, transformations: _, ...rest } = change.value
        const sealed = this.#secrets.seal(JSON.stringify(config), id)
        const row = { key: rest.key, document: JSON.stringify(rest), config: sealed }
        await db
          .insertInto('destination')
          .values({ id, created_at, ...row })
          .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
          .execute()
        return
      }
      case 'connection': {
        const { rules, ...rest } = change.value
        const { sourceId: source_id, destinationId: destination_id } = rest
        const stored = { document: JSON.stringify(rest), rules: rules === undefined ? null : JSON.stringify(rules) }
        const row = { source_id, destination_id, ...stored }
        await db
          .insertInto('connection')
          .values({ id, created_at, ...row })
          .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
          .execute()
        return
      }
      case 'transformation':
        return putTransformation(db, change.value)
      case 'library':
        return putLibrary(db, change.value)
      case 'user': {
        const row = { email: change.value.email.toLowerCase(), document: JSON.stringify(change.value) }
        await db
          .insertInto('user_account')
          .values({ id, created_at, ...row })
          .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
          .execute()
        return
      }
      case 'credential': {
        // JSON can represent every character.
        const value = this.#secrets.seal(JSON.stringify(change.value.value), credentialContext(id))
        const row = { updated_at: change.value.updatedAt, value }
        await db
          .insertInto('credential')
          .values({ id, created_at, ...row })
          .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
          .execute()
        return
      }
      case 'access-token': {
        const { userId: user_id, digest, lastUsedAt: _, ...rest } = change.value
        const row = { user_id, digest, document: JSON.stringify({ userId: user_id, digest, ...rest }) }
        await db
          .insertInto('access_token')
          .values({ id, created_at, ...row })
          .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
          .execute()
        return
      }
      case 'session': {
        const { lastUsedAt: last_used_at, ...rest } = change.value
        const { tokenId: token_id, cookieDigest: cookie_digest } = rest
        const row = { id, token_id, cookie_digest, created_at, document: JSON.stringify(rest), last_used_at }
        await db.insertInto('session').values(row).execute()
        return
      }
    }
  }
}

const ROWS_PER_TURN = 50

const TABLE_OF = {
  source: 'source',
  destination: 'destination',
  connection: 'connection',
  transformation: 'transformation',
  library: 'library',
  user: 'user_account',
  'access-token': 'access_token',
  session: 'session',
  credential: 'credential',
} as const

async function insertWorkspace(db: Kysely<Tables>, secrets: SecretBox, workspace: NewWorkspace): Promise<void> {
  await db
    .insertInto('workspace')
    .values({
      id: workspace.id,
      commits: 0,
      revision: 0,
      key_check: secrets.keyCheck,
      ownership: null,
      created_at: workspace.createdAt,
    })
    .execute()
}
