import type { Kysely } from 'kysely'
import type { Migration } from 'kysely/migration'

/**
 * The tables, in types that every engine has. A value that is searched or must be unique is a column. The rest of a row
 * is one JSON document, because all of it is read at the start and searched in memory.
 */
export interface Tables {
  workspace: {
    id: string
    commits: number
    revision: number
    /** SecretBox.keyCheck of the key that sealed the secrets. */
    key_check: string
    ownership: string | null
    created_at: number
  }
  source: { id: string; key: string; write_key: string; partition: number; created_at: number; document: string }
  /** `config` is sealed as a whole, with the id as its context. */
  destination: { id: string; key: string; created_at: number; document: string; config: string }
  connection: {
    id: string
    source_id: string
    destination_id: string
    created_at: number
    document: string
    rules: string | null
  }
  transformation: { id: string; key: string; created_at: number; document: string }
  library: { id: string; key: string; created_at: number; document: string }
  /** Never removed, and changed only to set the pins once. A start reads only versions that run or are edited. */
  code_version: {
    id: string
    owner_kind: string
    owner_id: string
    created_at: number
    document: string
    pins: string | null
    code: string
  }
  user_account: { id: string; email: string; created_at: number; document: string }
  access_token: {
    id: string
    user_id: string
    digest: string
    created_at: number
    document: string
    last_used_at: number | null
  }
  /** `last_used_at` is not in the document. Removed with its token. */
  session: {
    id: string
    token_id: string
    cookie_digest: string
    created_at: number
    document: string
    last_used_at: number
  }
  /** `value` is sealed, with `credential <key>` as its context. */
  credential: { id: string; created_at: number; updated_at: number; value: string }
  /** `actor` in lower case. Not read at the start: it grows for a year. */
  audit_entry: { id: string; at: number; actor: string; kind: string; document: string }
}

export interface ControlMigration extends Migration {
  /**
   * Several releases share a Postgres schema: after this migration, only those start that know so many migrations. A
   * SQLite file with an unknown migration is refused by any release.
   */
  readonly usableFrom?: number
}

/** By name, in order. Never change a released migration; each runs whole or not at all. */
export const MIGRATIONS: Readonly<Record<string, ControlMigration>> = {
  '0001-resources-and-accounts': { up: createResourcesAndAccounts },
  '0002-audit-log': { up: createAuditLog },
  '0003-credentials': { up: createCredentials },
  '0004-transformations': { up: createTransformations },
  '0005-sessions': { up: createSessions },
  '0006-partitions': { up: addPartitions },
  '0007-connection-rules': { up: addConnectionRules, usableFrom: 7 },
}

async function createResourcesAndAccounts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('workspace')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('commits', 'bigint', (column) => column.notNull())
    .addColumn('revision', 'bigint', (column) => column.notNull())
    .addColumn('key_check', 'text', (column) => column.notNull())
    .addColumn('ownership', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('source')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('key', 'text', (column) => column.notNull().unique())
    .addColumn('write_key', 'text', (column) => column.notNull().unique())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('document', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('destination')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('key', 'text', (column) => column.notNull().unique())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('document', 'text', (column) => column.notNull())
    .addColumn('config', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('connection')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('source_id', 'text', (column) => column.notNull().references('source.id'))
    .addColumn('destination_id', 'text', (column) => column.notNull().references('destination.id'))
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('document', 'text', (column) => column.notNull())
    .addUniqueConstraint('connection_once', ['source_id', 'destination_id'])
    .execute()
  await db.schema
    .createTable('user_account')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('email', 'text', (column) => column.notNull().unique())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('document', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('access_token')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('user_id', 'text', (column) => column.notNull().references('user_account.id'))
    .addColumn('digest', 'text', (column) => column.notNull().unique())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('document', 'text', (column) => column.notNull())
    .addColumn('last_used_at', 'bigint')
    .execute()
}

async function createAuditLog(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('audit_entry')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('at', 'bigint', (column) => column.notNull())
    .addColumn('actor', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('document', 'text', (column) => column.notNull())
    .execute()
  // One index for each filter, all in the order of pages: a page of a rare kind must not read a year of entries.
  await db.schema.createIndex('audit_entry_at').on('audit_entry').columns(['at', 'id']).execute()
  await db.schema.createIndex('audit_entry_actor').on('audit_entry').columns(['actor', 'at', 'id']).execute()
  await db.schema.createIndex('audit_entry_kind').on('audit_entry').columns(['kind', 'at', 'id']).execute()
}

async function createCredentials(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('credential')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute()
}

async function createTransformations(db: Kysely<unknown>): Promise<void> {
  for (const table of ['transformation', 'library']) {
    await db.schema
      .createTable(table)
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('key', 'text', (column) => column.notNull().unique())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('document', 'text', (column) => column.notNull())
      .execute()
  }
  // Has no reference to its owner, which it outlives: traces and dead letters name versions.
  await db.schema
    .createTable('code_version')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('owner_kind', 'text', (column) => column.notNull())
    .addColumn('owner_id', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('document', 'text', (column) => column.notNull())
    .addColumn('pins', 'text')
    .addColumn('code', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createIndex('code_version_owner')
    .on('code_version')
    .columns(['owner_id', 'owner_kind', 'created_at', 'id'])
    .execute()
}

async function createSessions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('session')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('token_id', 'text', (column) => column.notNull().references('access_token.id'))
    .addColumn('cookie_digest', 'text', (column) => column.notNull().unique())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('document', 'text', (column) => column.notNull())
    .addColumn('last_used_at', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('session_token').on('session').column('token_id').execute()
}

/** The log has one partition so far, which holds every source. */
async function addPartitions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('source')
    .addColumn('partition', 'integer', (column) => column.notNull().defaultTo(0))
    .execute()
}

/** A column of its own, so that a version without rules, which would send what they deny, does not open the database. */
async function addConnectionRules(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('connection').addColumn('rules', 'text').execute()
}
