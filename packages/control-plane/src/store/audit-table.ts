import type { Kysely } from 'kysely'
import type { AuditEntry } from '../audit/audit-entry.ts'
import type { AuditQuery } from './control-store.ts'
import type { Tables } from './tables.ts'

/** @param isRepeated an entry may be stored already, by a commit whose answer was lost; else that is an error. */
export async function insertAuditEntries(
  db: Kysely<Tables>,
  entries: readonly AuditEntry[],
  isRepeated = false,
): Promise<void> {
  for (const entry of entries) {
    const { id, at, actor, kind } = entry
    const document = JSON.stringify(entry)
    const row = { id, at, actor: actor.toLowerCase(), kind, document }
    const insert = db.insertInto('audit_entry').values(row)
    await (isRepeated ? insert.onConflict((conflict) => conflict.column('id').doNothing()) : insert).execute()
  }
}

/** Newest first; entries of one time by descending id. */
export async function selectAuditEntries(db: Kysely<Tables>, query: AuditQuery): Promise<AuditEntry[]> {
  const { from, to, actor, kind, after, limit } = query
  let rows = db.selectFrom('audit_entry').select('document')
  if (from !== undefined) rows = rows.where('at', '>=', from)
  if (to !== undefined) rows = rows.where('at', '<', to)
  if (actor !== undefined) rows = rows.where('actor', '=', actor.toLowerCase())
  if (kind !== undefined) rows = rows.where('kind', '=', kind)
  if (after !== undefined) {
    // The first line is what an index can use; the second excludes earlier entries of the same time.
    rows = rows
      .where('at', '<=', after.at)
      .where(({ eb, or }) => or([eb('at', '<', after.at), eb('id', '<', after.id)]))
  }
  const found = await rows.orderBy('at', 'desc').orderBy('id', 'desc').limit(limit).execute()
  return found.map(({ document }) => JSON.parse(document) as AuditEntry)
}

/** The oldest entries before `before`. */
export async function pruneAuditEntries(db: Kysely<Tables>, before: number, most: number): Promise<number> {
  const oldest = db
    .selectFrom('audit_entry')
    .select('id')
    .where('at', '<', before)
    .orderBy('at')
    .orderBy('id')
    .limit(most)
  const { numDeletedRows } = await db.deleteFrom('audit_entry').where('id', 'in', oldest).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
