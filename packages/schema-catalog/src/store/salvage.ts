import { DatabaseSync } from 'node:sqlite'
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

/** The ids that can still be read from a damaged database; none from one that cannot be opened. */
export function salvagedIds(file: string): KnownId[] {
  const found: KnownId[] = []
  for (const sql of [MODELS, VERSIONS]) {
    try {
      using db = new DatabaseSync(file, { readOnly: true })
      for (const row of db.prepare(sql).iterate() as Iterable<Row>) {
        const { source, type, identifier, shape = new Uint8Array(), id, uuid, first_at: firstAt } = row
        found.push({ source, type, identifier, shape, id, uuid, firstAt })
      }
    } catch {
      // What comes after the damage cannot be read: these get new ids.
    }
  }
  return found
}
