import { formatTime, type JsonObject } from '@millrace/protocol'
import type { Role } from './role.ts'

export interface User {
  readonly id: string
  readonly email: string
  readonly role: Role
  readonly createdAt: number
  readonly updatedAt: number
}

/** A personal access token; its value is known only to whoever was shown it. */
export interface AccessToken {
  readonly id: string
  readonly userId: string
  readonly name: string
  readonly role: Role
  /** SHA-256 of the token, as hex. */
  readonly digest: string
  readonly createdAt: number
  readonly expiresAt: number | null
  /** To the minute. */
  readonly lastUsedAt: number | null
}

/**
 * A sign-in of the dashboard. It acts for an access token and ends with it; its two halves are known only to the browser
 * that was given them.
 */
export interface Session {
  readonly id: string
  readonly tokenId: string
  /** SHA-256 of the half in the cookie, as hex. */
  readonly cookieDigest: string
  /** SHA-256 of the half that comes as a header, as hex. */
  readonly halfDigest: string
  readonly createdAt: number
  /** At most a minute before it was. */
  readonly lastUsedAt: number
}

/** Who may come in, as of one moment. Never changed: a change makes another one. */
export interface Accounts {
  readonly users: ReadonlyMap<string, User>
  readonly tokens: ReadonlyMap<string, AccessToken>
  readonly sessions: ReadonlyMap<string, Session>
  tokenByDigest(digest: string): AccessToken | undefined
  /** Compared without letter case. */
  userByEmail(email: string): User | undefined
  sessionByCookie(digest: string): Session | undefined
}

export function buildAccounts(
  users: ReadonlyMap<string, User>,
  tokens: ReadonlyMap<string, AccessToken>,
  sessions: ReadonlyMap<string, Session>,
): Accounts {
  const byDigest = new Map([...tokens.values()].map((token) => [token.digest, token]))
  const byEmail = new Map([...users.values()].map((user) => [user.email.toLowerCase(), user]))
  const byCookie = new Map([...sessions.values()].map((session) => [session.cookieDigest, session]))
  return {
    users,
    tokens,
    sessions,
    tokenByDigest: (digest) => byDigest.get(digest),
    userByEmail: (email) => byEmail.get(email.toLowerCase()),
    sessionByCookie: (digest) => byCookie.get(digest),
  }
}

export function userJson(user: User): JsonObject {
  return {
    id: user.id,
    email: user.email,
    role: user.role,
    createdAt: formatTime(user.createdAt),
    updatedAt: formatTime(user.updatedAt),
  }
}

export function accessTokenJson(token: AccessToken, user: User): JsonObject {
  return {
    id: token.id,
    name: token.name,
    role: token.role,
    userId: token.userId,
    email: user.email,
    createdAt: formatTime(token.createdAt),
    expiresAt: token.expiresAt === null ? null : formatTime(token.expiresAt),
    lastUsedAt: token.lastUsedAt === null ? null : formatTime(token.lastUsedAt),
  }
}
