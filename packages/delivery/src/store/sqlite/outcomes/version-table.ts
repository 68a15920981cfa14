import type { DatabaseSync } from 'node:sqlite'
import type { VersionsWrite } from '../../outcomes/flush.ts'

/** Maximum number per destination; older versions are not read. */
const MAX_REVISIONS = 1_000

/**
 * The versions of user code by destination and revision. Every outcome stores a revision, and thereby its versions.
 */
export class VersionTable {
  readonly #statements

  constructor(db: DatabaseSync) {
    this.#statements = {
      put: db.prepare('INSERT OR REPLACE INTO transformations (destination, revision, version_ids) VALUES (?, ?, ?)'),
      drop: db.prepare(
        `DELETE FROM transformations WHERE destination = ? AND revision <=
           (SELECT revision FROM transformations WHERE destination = ? ORDER BY revision DESC LIMIT 1 OFFSET ?)`,
      ),
      get: db.prepare('SELECT version_ids FROM transformations WHERE destination = ? AND revision = ?'),
    }
  }

  write(destination: number, { revision, versionIds }: VersionsWrite): void {
    this.#statements.put.run(destination, revision, JSON.stringify(versionIds))
    this.#statements.drop.run(destination, destination, MAX_REVISIONS)
  }

  of(destination: number, revision: number): readonly string[] {
    const row = this.#statements.get.get(destination, revision) as { version_ids: string } | undefined
    return row === undefined ? [] : (JSON.parse(row.version_ids) as string[])
  }
}
