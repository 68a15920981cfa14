import { formatTime, type JsonObject } from '@millrace/protocol'
import type { Role } from './role.ts'

export interface User {
  readonly id: string
  readonly email: string
  readonly role: Role
  readonly createdAt: number
  readonly updatedAt: number
}

/** A personal access token; the server does not store its value. */
export interface AccessToken {
  readonly id: string
  readonly userId: string
  readonly name: string
  readonly role: Role
  /** SHA-256 of the token, as hex. */
  readonly digest: string
  readonly createdAt: number
  readonly expiresAt: number | null
  /** Rounded to the minute. */
  readonly lastUsedAt: number | null
}

/**
 * A session of the dashboard. It acts for an access token and ends with it; only the browser knows its two halves.
 */
export interface Session {
  readonly id: string
  readonly tokenId: string
  /** SHA-256 of the cookie's half, as hex. */
  readonly cookieDigest: string
  /** SHA-256 of the header's half, as hex. */
  readonly halfDigest: string
  readonly createdAt: number
  /** Up to a minute before the actual last use. */
  readonly lastUsedAt: number
}

/** The users and tokens at one time. Immutable: a change creates a new one. */
export interface Accounts {
  readonly users: ReadonlyMap<string, User>
  readonly tokens: ReadonlyMap<string, AccessToken>
  readonly sessions: ReadonlyMap<string, Session>
  tokenByDigest(digest: string): AccessToken | undefined
  /** Case-insensitive. */
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
