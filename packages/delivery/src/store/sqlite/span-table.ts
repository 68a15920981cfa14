import type { DatabaseSync } from 'node:sqlite'
import type { Span } from '../span-store.ts'

/** Ranges of the log in which connections and destinations were active. */
export class SpanTable {
  readonly #statements

  constructor(db: DatabaseSync) {
    this.#statements = {
      all: db.prepare('SELECT * FROM spans'),
      put: db.prepare('INSERT OR REPLACE INTO spans VALUES (?, ?, ?, ?, ?, ?, ?)'),
      remove: db.prepare('DELETE FROM spans WHERE kind = ? AND resource = ?'),
      drop: db.prepare('DELETE FROM spans WHERE kind = ? AND resource = ? AND partition = ? AND from_offset = ?'),
    }
  }

  all(): Span[] {
    return this.#statements.all.all().map((row) => ({
      kind: row['kind'] as Span['kind'],
      resource: row['resource'] as string,
      sourceId: row['source'] as string,
      destinationId: row['destination'] as string,
      partition: row['partition'] as number,
      fromOffset: row['from_offset'] as number,
      toOffset: row['to_offset'] as number | null,
    }))
  }

  write({ put, remove }: { put: readonly Span[]; remove: readonly Pick<Span, 'kind' | 'resource'>[] }): void {
    for (const { kind, resource } of remove) this.#statements.remove.run(kind, resource)
    for (const { kind, resource, sourceId, destinationId, partition, fromOffset, toOffset } of put) {
      this.#statements.put.run(kind, resource, sourceId, destinationId, partition, fromOffset, toOffset)
    }
  }

  drop(spans: readonly Pick<Span, 'kind' | 'resource' | 'partition' | 'fromOffset'>[]): void {
    for (const { kind, resource, partition, fromOffset } of spans) {
      this.#statements.drop.run(kind, resource, partition, fromOffset)
    }
  }
}
