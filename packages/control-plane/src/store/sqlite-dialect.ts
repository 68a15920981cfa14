import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import {
  type DatabaseConnection,
  type DialectAdapter,
  type Driver,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteDriver,
  type SqliteStatement,
} from 'kysely'

/** A Kysely dialect for Node's built-in SQLite. */
export class NodeSqliteDialect extends SqliteDialect {
  readonly #database: DatabaseSync

  constructor(database: DatabaseSync) {
    super({ database: asKyselyExpects(database) })
    this.#database = database
  }

  override createAdapter(): DialectAdapter {
    return new TransactionalAdapter()
  }

  override createDriver(): Driver {
    return new NodeSqliteDriver(this.#database)
  }
}

/** SQLite changes tables inside transactions, so a migration is whole or absent. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

class NodeSqliteDriver extends SqliteDriver {
  readonly #database: DatabaseSync

  constructor(database: DatabaseSync) {
    super({ database: asKyselyExpects(database) })
    this.#database = database
  }

  /** After an error such as a full disk, SQLite has already rolled back; a second rollback would hide the cause. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#database.isTransaction) await super.rollbackTransaction(connection)
  }
}

function asKyselyExpects(database: DatabaseSync): SqliteDatabase {
  return { prepare: (sql) => statement(database, sql), close: () => database.close() }
}

function statement(database: DatabaseSync, sql: string): SqliteStatement {
  const prepared = database.prepare(sql)
  return {
    reader: prepared.columns().length > 0,
    all: (parameters) => prepared.all(...(parameters as SQLInputValue[])),
    run: (parameters) => prepared.run(...(parameters as SQLInputValue[])),
    iterate: (parameters) => prepared.iterate(...(parameters as SQLInputValue[])),
  }
}
