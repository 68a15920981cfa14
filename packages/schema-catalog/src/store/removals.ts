import { noCuts } from '../observe/cut.ts'
import type { CatalogSource } from '../observe/model.ts'
import { maskedText } from '../observe/samples.ts'
import type { CatalogDatabase } from './catalog-database.ts'
import { ROW_BYTES, SAMPLE_BYTES, UNVERSIONED_BYTES, VALUES_BYTES } from './stored-bytes.ts'

const MODELS = 'SELECT id FROM models WHERE source = ?'
const VERSIONS = `SELECT versions.id FROM versions JOIN models ON models.id = versions.model WHERE source = ?`
const OWNERS = `SELECT 2 * id FROM (${MODELS}) UNION ALL SELECT 2 * id + 1 FROM (${VERSIONS})`

/** Removes of a source what it is told not to keep; nothing else changes. @see contracts/schema-catalog.md §7 [D335] */
export function removeNarrowed(database: CatalogDatabase, { id, samples, hasValues }: CatalogSource): void {
  if (samples === 'off') database.run(`DELETE FROM samples WHERE owner IN (${OWNERS})`, id, id)
  if (samples === 'masked') maskSamples(database, id)
  if (!hasValues) {
    database.run(`DELETE FROM version_values WHERE version IN (${VERSIONS})`, id)
    database.run(`UPDATE versions SET valued = 0 WHERE model IN (${MODELS})`, id)
    for (const { model, keys } of database.all(`SELECT model, keys FROM unversioned WHERE model IN (${MODELS})`, id)) {
      const counts = (JSON.parse(keys) as (string | number)[]).map((each, i) => (i % 3 === 2 ? 0 : each))
      const sql = `UPDATE unversioned SET keys = ?, counters = ?, texts = '[]' WHERE model = ?`
      database.run(sql, JSON.stringify(counts), new Uint8Array(), model)
    }
  }
  database.run('UPDATE sources SET bytes = ? WHERE id = ?', storedBytes(database, id), id)
}

/** Removes the values of all versions; they are counted anew from now on. */
export function removeVersionValues(database: CatalogDatabase): void {
  database.run('DELETE FROM version_values')
  database.run('UPDATE versions SET valued = 0')
  noteStoredBytes(database)
}

/** Keeps so many samples of each model and version. */
export function removeSamplesBeyond(database: CatalogDatabase, most: number): void {
  const ranked = 'SELECT id, row_number() OVER (PARTITION BY owner ORDER BY priority) AS place FROM samples'
  database.run(`DELETE FROM samples WHERE id IN (SELECT id FROM (${ranked}) WHERE place > ?)`, most)
  noteStoredBytes(database)
}

/** @returns false if nothing is known of the source. */
export function purgeSource(database: CatalogDatabase, id: string): boolean {
  if (database.get('SELECT 1 FROM sources WHERE id = ?', id) === undefined) return false
  database.run(`DELETE FROM samples WHERE owner IN (${OWNERS})`, id, id)
  database.run(`DELETE FROM version_values WHERE version IN (${VERSIONS})`, id)
  database.run(`DELETE FROM unversioned WHERE model IN (${MODELS})`, id)
  database.run(`DELETE FROM versions WHERE model IN (${MODELS})`, id)
  database.run('DELETE FROM models WHERE source = ?', id)
  database.run('DELETE FROM known WHERE source = ?', id)
  database.run('UPDATE sources SET models = 0, bytes = 0, cut = ? WHERE id = ?', JSON.stringify(noCuts()), id)
  return true
}

/** Leaves nothing but ids, first times and sources; positions are back at the beginning. [D308] */
export function restartCounting(database: CatalogDatabase): void {
  database.run(
    `INSERT OR REPLACE INTO known
     SELECT source, type, identifier, x'', id, event_id, created_at FROM models
     UNION ALL SELECT source, type, identifier, shape, versions.id, version_id, first_seen
     FROM versions JOIN models ON models.id = versions.model`,
  )
  for (const table of ['samples', 'version_values', 'unversioned', 'versions', 'models', 'positions']) {
    database.run(`DELETE FROM ${table}`)
  }
  database.run('UPDATE sources SET models = 0, bytes = 0, cut = ?', JSON.stringify(noCuts()))
}

function maskSamples(database: CatalogDatabase, id: string): void {
  // One event at a time: all of a source may be more than the memory holds.
  for (const row of database.all(`SELECT id FROM samples WHERE is_masked = 0 AND owner IN (${OWNERS})`, id, id)) {
    const { event } = database.get('SELECT event FROM samples WHERE id = ?', row['id'])!
    database.run('UPDATE samples SET event = ?, is_masked = 1 WHERE id = ?', maskedText(event), row['id'])
  }
}

function noteStoredBytes(database: CatalogDatabase): void {
  for (const { id } of database.all('SELECT id FROM sources')) {
    database.run('UPDATE sources SET bytes = ? WHERE id = ?', storedBytes(database, id), id)
  }
}

/** As it grew with what was written. */
function storedBytes(database: CatalogDatabase, id: string): number {
  const sum = (sql: string, ...ids: string[]) =>
    (database.get(`SELECT sum(bytes) AS bytes FROM (${sql})`, ...ids)?.['bytes'] ?? 0) as number
  return (
    sum(
      `SELECT ${ROW_BYTES} + octet_length(identifier) + octet_length(keys) AS bytes FROM models WHERE source = ?`,
      id,
    ) +
    sum(`SELECT ${ROW_BYTES} + octet_length(keys) AS bytes FROM versions WHERE model IN (${MODELS})`, id) +
    sum(`SELECT ${VALUES_BYTES} AS bytes FROM version_values WHERE version IN (${VERSIONS})`, id) +
    sum(`SELECT ${UNVERSIONED_BYTES} AS bytes FROM unversioned WHERE model IN (${MODELS})`, id) +
    sum(`SELECT ${SAMPLE_BYTES} AS bytes FROM samples WHERE owner IN (${OWNERS})`, id, id)
  )
}
