import type { Kysely } from 'kysely'
import type { Change } from '../workspace/change.ts'
import type { SecretBox } from '../workspace/secret-box.ts'
import { putLibrary, putTransformation, putVersion } from './code-tables.ts'
import { credentialContext } from './load-state.ts'
import type { Tables } from './tables.ts'

/** Stores or removes one row, within a transaction of the caller. */
export async function writeChange(db: Kysely<Tables>, secrets: SecretBox, change: Change): Promise<void> {
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
      const sealed = secrets.seal(JSON.stringify(config), id)
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
      const value = secrets.seal(JSON.stringify(change.value.value), credentialContext(id))
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
