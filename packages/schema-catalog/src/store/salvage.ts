import { DatabaseSync } from 'node:sqlite'
import type { CatalogSource } from '../observe/model.ts'
import type { Row } from './catalog-database.ts'

/** What a rebuild keeps of a model or version. @see schema.ts "known" */
export interface KnownId {
  readonly source: string
  readonly type: string
  readonly identifier: string
  /** Empty for a model. */
  readonly shape: Uint8Array
  readonly id: number
  readonly uuid: string
  readonly firstAt: number
}

const MODELS = 'SELECT source, type, identifier, id, event_id AS uuid, created_at AS first_at FROM models'
const VERSIONS = `
  SELECT source, type, identifier, shape, versions.id, version_id AS uuid, first_seen AS first_at
  FROM versions JOIN models ON models.id = versions.model`

const SOURCES = 'SELECT id, write_key, samples, has_values FROM sources'

/** What a rebuild takes over from a damaged file. */
export interface Salvage {
  readonly ids: readonly KnownId[]
  readonly sources: readonly CatalogSource[]
  /** Otherwise there may have been others. */
  readonly hasAllSources: boolean
}

/** What can still be read from a damaged database; nothing from one that cannot be opened. */
export function salvage(file: string): Salvage {
  const ids: KnownId[] = []
  const sources: CatalogSource[] = []
  for (const sql of [MODELS, VERSIONS]) {
    // What comes after the damage cannot be read: these get new ids.
    readRows(file, sql, ({ source, type, identifier, shape = new Uint8Array(), id, uuid, first_at: firstAt }) =>
      ids.push({ source, type, identifier, shape, id, uuid, firstAt }),
    )
  }
  const hasAllSources = readRows(file, SOURCES, ({ id, write_key: writeKey, samples, has_values: hasValues }) =>
    sources.push({ id, writeKey, samples, hasValues: hasValues === 1 }),
  )
  return { ids, sources, hasAllSources }
}

/** @returns whether all could be read. */
function readRows(file: string, sql: string, take: (row: Row) => void): boolean {
  try {
    using db = new DatabaseSync(file, { readOnly: true })
    for (const row of db.prepare(sql).iterate() as Iterable<Row>) take(row)
    return true
  } catch {
    return false
  }
}
