import type { ConnectionRules, JsonObject } from '@millrace/protocol'
import type { Kysely } from 'kysely'
import type { AccessToken, Session, User } from '../people/accounts.ts'
import type { Connection } from '../resources/connection.ts'
import type { Destination } from '../resources/destination.ts'
import type { Source } from '../resources/source.ts'
import type { Ownership } from '../workspace/change.ts'
import type { SecretBox } from '../workspace/secret-box.ts'
import { loadCode } from './code-tables.ts'
import type { StoredState, StoredVersion } from './control-store.ts'
import type { Tables } from './tables.ts'

/** Reads everything that the control plane keeps in memory. Call it in a transaction. */
export async function loadState(db: Kysely<Tables>, secrets: SecretBox): Promise<StoredState> {
  const workspace = await db.selectFrom('workspace').selectAll().executeTakeFirstOrThrow()
  return {
    workspaceId: workspace.id,
    version: { commits: Number(workspace.commits), revision: Number(workspace.revision) },
    ownership: workspace.ownership === null ? undefined : (JSON.parse(workspace.ownership) as Ownership),
    sources: await loadSources(db),
    destinations: await loadDestinations(db, secrets),
    connections: await loadConnections(db),
    ...(await loadCode(db)),
    users: await loadUsers(db),
    accessTokens: await loadTokens(db),
    sessions: await loadSessions(db),
    credentials: await loadCredentials(db, secrets),
  }
}

/** @see ControlStore.version */
export async function selectVersionOfState(db: Kysely<Tables>): Promise<StoredVersion> {
  const { commits, revision } = await db
    .selectFrom('workspace')
    .select(['commits', 'revision'])
    .executeTakeFirstOrThrow()
  return { commits: Number(commits), revision: Number(revision) }
}

/** What a credential is sealed under. Destinations are sealed under their id, which no key may imitate. */
export function credentialContext(key: string): string {
  return `credential ${key}`
}

async function loadSources(db: Kysely<Tables>): Promise<Source[]> {
  const rows = await db
    .selectFrom('source')
    .select(['document', 'partition'])
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(({ document, partition }) => ({
    ...(JSON.parse(document) as Omit<Source, 'partition'>),
    partition: Number(partition),
  }))
}

async function loadDestinations(db: Kysely<Tables>, secrets: SecretBox): Promise<Destination[]> {
  const rows = await db
    .selectFrom('destination')
    .select(['id', 'document', 'config'])
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(({ id, document, config }) => ({
    ...(JSON.parse(document) as Omit<Destination, 'config' | 'transformations'>),
    transformations: [],
    config: JSON.parse(secrets.open(config, id)) as JsonObject,
  }))
}

async function loadConnections(db: Kysely<Tables>): Promise<Connection[]> {
  const rows = await db
    .selectFrom('connection')
    .select(['document', 'rules'])
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(({ document, rules }) => ({
    ...(JSON.parse(document) as Omit<Connection, 'rules'>),
    rules: rules === null ? undefined : (JSON.parse(rules) as ConnectionRules),
  }))
}

async function loadUsers(db: Kysely<Tables>): Promise<User[]> {
  const rows = await db.selectFrom('user_account').select('document').orderBy('created_at').orderBy('id').execute()
  return rows.map(({ document }) => JSON.parse(document) as User)
}

async function loadTokens(db: Kysely<Tables>): Promise<AccessToken[]> {
  const rows = await db
    .selectFrom('access_token')
    .select(['document', 'last_used_at'])
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(({ document, last_used_at }) => ({
    ...(JSON.parse(document) as Omit<AccessToken, 'lastUsedAt'>),
    lastUsedAt: last_used_at === null ? null : Number(last_used_at),
  }))
}

async function loadSessions(db: Kysely<Tables>): Promise<Session[]> {
  const rows = await db
    .selectFrom('session')
    .select(['document', 'last_used_at'])
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(({ document, last_used_at }) => ({
    ...(JSON.parse(document) as Omit<Session, 'lastUsedAt'>),
    lastUsedAt: Number(last_used_at),
  }))
}

async function loadCredentials(db: Kysely<Tables>, secrets: SecretBox): Promise<StoredState['credentials']> {
  const rows = await db.selectFrom('credential').selectAll().orderBy('created_at').orderBy('id').execute()
  return rows.map(({ id, created_at, updated_at, value }) => ({
    key: id,
    value: JSON.parse(secrets.open(value, credentialContext(id))) as string,
    createdAt: Number(created_at),
    updatedAt: Number(updated_at),
  }))
}
