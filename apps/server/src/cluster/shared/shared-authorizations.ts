import { createHash, randomBytes } from 'node:crypto'
import { SecretBox } from '@millrace/control-plane'
import type { PostgresPool } from '@millrace/postgres'
import { AUTHORIZATION_VALID_MS, type PendingAuthorization, type PendingAuthorizations } from '@millrace/test-api'

/** As many as an embedded server keeps. */
const MAX_PENDING = 1_000

/**
 * Authorizations under way, in Postgres: a load balancer may send the person who comes back to another control process. They
 * are sealed, because they hold secrets of clients.
 */
export class SharedAuthorizations implements PendingAuthorizations {
  readonly #pool: PostgresPool
  readonly #box: SecretBox

  constructor(pool: PostgresPool, secretKey: Uint8Array) {
    this.#pool = pool
    this.#box = new SecretBox(secretKey, randomBytes)
  }

  async put(state: string, pending: PendingAuthorization): Promise<void> {
    const digest = digestOf(state)
    const sealed = this.#box.seal(JSON.stringify(pending), contextOf(digest))
    await this.#pool.query(
      `WITH old AS (
         DELETE FROM pending_authorization WHERE until <= now() OR begun <= (
           SELECT begun FROM pending_authorization ORDER BY begun DESC OFFSET $5 LIMIT 1
         )
       )
       INSERT INTO pending_authorization (digest, actor, until, sealed) VALUES ($1, $2, now() + $3 * interval '1 ms', $4)`,
      [digest, pending.actorId, AUTHORIZATION_VALID_MS, sealed, MAX_PENDING - 1],
    )
  }

  async take(state: string, actorId: string): Promise<PendingAuthorization | undefined> {
    const digest = digestOf(state)
    const [row] = await this.#pool.query<{ sealed: string }>(
      'DELETE FROM pending_authorization WHERE digest = $1 AND actor = $2 AND until > now() RETURNING sealed',
      [digest, actorId],
    )
    return row && (JSON.parse(this.#box.open(row.sealed, contextOf(digest))) as PendingAuthorization)
  }
}

/** Stored in place of the state: a reader of the table cannot finish an authorization. */
function digestOf(state: string): Buffer {
  return createHash('sha256').update(state).digest()
}

function contextOf(digest: Buffer): string {
  return `authorization ${digest.toString('hex')}`
}
