import type { PostgresPool } from '../postgres-pool.ts'
import type { LeaseKey, MemberDescription } from './leases.ts'

export interface StoredMember extends MemberDescription {
  readonly id: string
}

export interface StoredLease extends LeaseKey {
  /** Undefined: no living member owns it. */
  readonly owner: string | undefined
  /** How long its last owner has given no sign of life; undefined: it was given back, or has an owner. */
  readonly expiredForMs: number | undefined
}

/** The members that live now, by the database's clock. */
export function liveMembers(pool: PostgresPool): Promise<StoredMember[]> {
  return pool.query<StoredMember>(
    'SELECT id, roles, address, version FROM member WHERE until > now() ORDER BY address, id',
  )
}

/** All leases, for people: their owners may change at any time. */
export async function storedLeases(pool: PostgresPool): Promise<StoredLease[]> {
  const rows = await pool.query<LeaseKey & { owner: string | null; expired: number | null }>(
    `SELECT kind, number, CASE WHEN until > now() THEN owner END AS owner,
       CASE WHEN until <= now() THEN (extract(epoch FROM now() - until) * 1000)::bigint END AS expired
     FROM lease ORDER BY kind, number`,
  )
  return rows.map(({ kind, number, owner, expired }) => ({
    ...{ kind, number, owner: owner ?? undefined },
    expiredForMs: expired ?? undefined,
  }))
}
