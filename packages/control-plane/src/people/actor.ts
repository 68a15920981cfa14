import type { AccessToken, Session, User } from './accounts.ts'
import type { Role } from './role.ts'

/** The author of a request. */
export interface Actor {
  readonly user: User
  readonly token: AccessToken
  /** The role of the token, but never above the role of its user. */
  readonly role: Role
  /** The session, if the request used one instead of the token. */
  readonly session: Session | null
}
