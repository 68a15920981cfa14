import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { NewerCatalogError, refuseNewer } from './schema.ts'

/** Up to where each stream of the log is counted. */
export interface CountedPlaces {
  readonly live: number
  readonly backfill: number
}

const NOTHING: CountedPlaces = { live: 0, backfill: 0 }

/**
 * Looks into a catalog that nobody has open; a missing or damaged one has counted nothing.
 *
 * @throws NewerCatalogError
 */
export function countedPlaces(file: string): CountedPlaces {
  if (!existsSync(file)) return NOTHING
  try {
    using db = new DatabaseSync(file, { readOnly: true })
    refuseNewer(db)
    const rows = db.prepare('SELECT stream, position FROM positions WHERE partition = 0').all()
    const place = (stream: number) => (rows.find((row) => row['stream'] === stream)?.['position'] ?? 0) as number
    return { live: place(0), backfill: place(1) }
  } catch (error) {
    if (error instanceof NewerCatalogError) throw error
    return NOTHING
  }
}
