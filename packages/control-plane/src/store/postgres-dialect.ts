import type { PostgresConnection, Queries } from '@millrace/postgres'
import {
  type Dialect,
  Kysely,
  PostgresDialect,
  type PostgresPoolClient,
  PostgresQueryCompiler,
  type QueryCompiler,
} from 'kysely'

/** Kysely on connections of @millrace/postgres, whose owner closes them: never call `destroy`. */
export function kyselyOn<Tables>(connect: () => Promise<PostgresConnection>): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: dialectOf(async () => clientOf(await connect())) })
}

/** Kysely within a transaction of @millrace/postgres. */
export function kyselyIn<Tables>(queries: Queries): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: dialectOf(async () => ({ ...clientOf(queries), release: () => {} })) })
}

function dialectOf(connect: () => Promise<PostgresPoolClient>): Dialect {
  const dialect = new PostgresDialect({ pool: { connect, end: async () => {}, options: {} } })
  return {
    createAdapter: () => dialect.createAdapter(),
    createDriver: () => dialect.createDriver(),
    createIntrospector: (db) => dialect.createIntrospector(db),
    createQueryCompiler: (): QueryCompiler => new BytewiseTextCompiler(),
  }
}

/** Text is compared byte by byte, as in SQLite and in JavaScript, whatever the language of the database. */
class BytewiseTextCompiler extends PostgresQueryCompiler {
  protected override visitDataType(node: Parameters<PostgresQueryCompiler['visitDataType']>[0]): void {
    super.visitDataType(node)
    if (node.dataType === 'text') this.append(' collate "C"')
  }
}

function clientOf(connection: Queries & { release?(): void }): PostgresPoolClient {
  return {
    query: (text: string, values: readonly unknown[]) => connection.query(text, values.map(storable)),
    release: () => connection.release?.(),
  } as unknown as PostgresPoolClient
}

/**
 * Postgres refuses a statement with U+0000 in a text. Stored text columns hold none, so a search for one finds nothing;
 * like the other characters that UTF-8 cannot carry, lone surrogates, it becomes U+FFFD.
 */
function storable(value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll('\u0000', '\ufffd') : value
}
