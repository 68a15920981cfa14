import type { Queries } from '@millrace/postgres'

/** The columns by which a changed dead letter, or a range of them, is counted. */
export const COUNTED_LETTER = `id, destination, partition, source, stage, reason, last_status, dead_at,
  1::bigint AS letters, octet_length(event)::bigint AS bytes`

/**
 * SQL that adds rows (destination, source, stage, reason, last_status, minute, letters, oldest, newest) to
 * letter_group. Every statement locks the rows in one order.
 */
export function addToGroups(rows: string): string {
  return `
    INSERT INTO letter_group AS g (destination, source, stage, reason, last_status, minute, letters, oldest, newest)
    ${rows} ORDER BY 1, 2, 3, 4, 5, 6
    ON CONFLICT (destination, source, stage, reason, last_status, minute) DO UPDATE SET
      letters = g.letters + excluded.letters,
      oldest = CASE WHEN g.letters <= 0 THEN excluded.oldest ELSE least(g.oldest, excluded.oldest) END,
      newest = CASE WHEN g.letters <= 0 THEN excluded.newest ELSE greatest(g.newest, excluded.newest) END`
}

/** SQL that adds rows (destination, partition, letters, letter_bytes, expired) to backlog. */
export function addToBacklog(rows: string): string {
  return `
    INSERT INTO backlog AS b (destination, partition, letters, letter_bytes, expired)
    ${rows} ORDER BY 1, 2
    ON CONFLICT (destination, partition) DO UPDATE SET
      letters = b.letters + excluded.letters, letter_bytes = b.letter_bytes + excluded.letter_bytes,
      expired = b.expired + excluded.expired`
}

/**
 * Common table expressions that count changed dead letters.
 *
 * @param changed name of a relation with the columns of `COUNTED_LETTER`.
 * @param sign 1 for letters that become open, -1 for letters that are open no more.
 */
export function countsOf(changed: string, sign: 1 | -1): string {
  return `
    counted_groups AS (${addToGroups(`
      SELECT destination, source, stage, reason, last_status, dead_at / 60000, ${sign} * sum(letters), min(dead_at), max(dead_at)
      FROM ${changed} GROUP BY destination, source, stage, reason, last_status, dead_at / 60000`)}),
    counted_backlog AS (${addToBacklog(`
      SELECT destination, partition, ${sign} * sum(letters), ${sign} * sum(bytes), 0
      FROM ${changed} GROUP BY destination, partition`)})`
}

/**
 * Runs a statement that changes which dead letters are open, and counts the change.
 *
 * @param change returns the columns of `COUNTED_LETTER` for each letter.
 * @returns the ids of the changed letters.
 */
export async function changeOpen(
  queries: Queries,
  change: string,
  sign: 1 | -1,
  values: readonly unknown[],
): Promise<number[]> {
  const text = `WITH changed AS (${change}), ${countsOf('changed', sign)} SELECT id FROM changed`
  return (await queries.rows<{ id: number }>(text, values)).map(({ id }) => id)
}
