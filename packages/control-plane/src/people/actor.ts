import type { AccessToken, Session, User } from './accounts.ts'
import type { Role } from './role.ts'

/** Who makes a request. */
export interface Actor {
  readonly user: User
  readonly token: AccessToken
  /** The token's, but never above its user's. */
  readonly role: Role
  /** Of the dashboard, where the request came with one instead of the token. */
  readonly session: Session | null
}
