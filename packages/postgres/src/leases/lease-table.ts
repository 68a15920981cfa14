import type { SchemaPart } from '../migrations.ts'
import type { Queries } from '../postgres-connection.ts'
import type { PostgresPool } from '../postgres-pool.ts'
import type { HeldLease, LeaseKey, MemberDescription } from './leases.ts'

/*
 * All times are of the database: `until` is when another member may claim the lease. The epoch of a lease changes only
 * with a claim, under a lock FOR UPDATE. A fence locks FOR KEY SHARE: it excludes claims, and neither waits for renewals
 * nor delays them.
 */

export const leaseSchema: SchemaPart = {
  name: 'leases',
  steps: [{ name: 'members and leases', up: (queries) => queries.query(CREATE_TABLES) }],
}

const CREATE_TABLES = `
  CREATE TABLE member (
    id text COLLATE "C" PRIMARY KEY,
    roles text[] NOT NULL,
    address text NOT NULL,
    version text NOT NULL,
    until timestamptz NOT NULL
  );
  CREATE TABLE lease (
    kind text COLLATE "C",
    number integer,
    owner text COLLATE "C",
    epoch bigint NOT NULL DEFAULT 0,
    until timestamptz,
    PRIMARY KEY (kind, number)
  )`

/** Rows of members that ended long ago. */
const FORGET = `interval '1 hour'`

/**
 * Locks leases until the end of the transaction: none of them can be claimed before. A transaction that writes under
 * leases calls this first, and writes nothing if it returns any.
 *
 * @param held each lease once.
 * @returns leases that another member has claimed meanwhile.
 * @see contracts/cluster.md §4 [K9]
 */
export async function lostLeases<T extends HeldLease>(queries: Queries, held: readonly T[]): Promise<T[]> {
  if (held.length === 0) return []
  const matching = await queries.rows<LeaseKey>(
    `SELECT kind, number FROM lease JOIN unnest($1::text[], $2::integer[], $3::bigint[]) AS held (kind, number, epoch)
     USING (kind, number, epoch) FOR KEY SHARE OF lease`,
    columns(held),
  )
  const found = new Set(matching.map(nameOf))
  return held.filter((lease) => !found.has(nameOf(lease)))
}

/** Another member has claimed the lease meanwhile: nothing is written under it any more. */
export class LeaseLostError extends Error {
  override name = 'LeaseLostError'
  readonly code = 'LEASE_LOST'

  constructor({ kind, number }: LeaseKey) {
    super(`another member holds the lease of ${kind} ${number}`)
  }
}

/** Begins a transaction that writes under a lease. @throws LeaseLostError */
export async function assertHeld(queries: Queries, lease: HeldLease): Promise<void> {
  if ((await lostLeases(queries, [lease])).length > 0) throw new LeaseLostError(lease)
}

/** Joins, or renews the membership. `isLeaving`: only the leases are renewed. */
export interface Renewal extends MemberDescription {
  readonly id: string
  readonly leaseMs: number
  readonly isLeaving: boolean
}

/** @returns the leases that are still held. */
export async function renew(
  pool: PostgresPool,
  { id, roles, address, version, leaseMs, isLeaving }: Renewal,
  held: readonly HeldLease[],
): Promise<LeaseKey[]> {
  return pool.query<LeaseKey>(
    `WITH renewed AS (
       UPDATE lease SET until = now() + $4 * interval '1 ms'
       FROM unnest($1::text[], $2::integer[], $3::bigint[]) AS held (kind, number, epoch)
       WHERE lease.kind = held.kind AND lease.number = held.number AND lease.epoch = held.epoch AND lease.owner = $5
       RETURNING lease.kind, lease.number
     ), membership AS (
       INSERT INTO member (id, roles, address, version, until)
       SELECT $5, $6, $7, $8, now() + $4 * interval '1 ms' WHERE NOT $9
       ON CONFLICT (id) DO UPDATE SET until = excluded.until
     ), forgotten AS (
       DELETE FROM member WHERE until < now() - ${FORGET}
     )
     SELECT kind, number FROM renewed`,
    [...columns(held), leaseMs, id, roles, address, version, isLeaving],
  )
}

/** @returns the number of live members by role. */
export async function countMembers(pool: PostgresPool): Promise<Map<string, number>> {
  const rows = await pool.query<{ role: string; members: number }>(
    'SELECT unnest(roles) AS role, count(*) AS members FROM member WHERE until > now() GROUP BY role ORDER BY role',
  )
  return new Map(rows.map(({ role, members }) => [role, members]))
}

/** Adds the rows of leases that nobody has had yet. */
export async function addLeases(pool: PostgresPool, kind: string, numbers: readonly number[]): Promise<void> {
  await pool.query(
    `INSERT INTO lease (kind, number) SELECT $1, number FROM unnest($2::integer[]) AS wanted (number) ORDER BY number
     ON CONFLICT DO NOTHING`,
    [kind, numbers],
  )
}

/** Claims free and expired leases. One whose owner writes at this moment is passed by until a later turn. */
export async function claim(
  pool: PostgresPool,
  { owner, leaseMs }: { readonly owner: string; readonly leaseMs: number },
  kind: string,
  numbers: readonly number[],
  most: number,
): Promise<HeldLease[]> {
  return pool.query<HeldLease>(
    `WITH free AS (
       SELECT kind, number FROM lease
       WHERE kind = $1 AND number = ANY ($2::integer[]) AND (owner IS NULL OR until <= now())
       ORDER BY number LIMIT $3 FOR UPDATE SKIP LOCKED
     )
     UPDATE lease SET owner = $4, epoch = epoch + 1, until = now() + $5 * interval '1 ms'
     FROM free WHERE lease.kind = free.kind AND lease.number = free.number
     RETURNING lease.kind, lease.number, lease.epoch`,
    [kind, numbers, most, owner, leaseMs],
  )
}

/** Gives leases back, as far as they are still held. */
export async function giveBack(pool: PostgresPool, owner: string, held: readonly HeldLease[]): Promise<void> {
  await pool.query(
    `UPDATE lease SET owner = NULL, until = NULL
     FROM unnest($1::text[], $2::integer[], $3::bigint[]) AS held (kind, number, epoch)
     WHERE lease.kind = held.kind AND lease.number = held.number AND lease.epoch = held.epoch AND lease.owner = $4`,
    [...columns(held), owner],
  )
}

export async function removeMember(pool: PostgresPool, id: string): Promise<void> {
  await pool.query('DELETE FROM member WHERE id = $1', [id])
}

export function nameOf({ kind, number }: LeaseKey): string {
  return `${kind} ${number}`
}

function columns(held: readonly HeldLease[]): unknown[][] {
  return [held.map(({ kind }) => kind), held.map(({ number }) => number), held.map(({ epoch }) => epoch)]
}
