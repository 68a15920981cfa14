import type { AccessToken, Session, User } from '../people/accounts.ts'
import type { Connection } from '../resources/connection.ts'
import type { Credential } from '../resources/credential.ts'
import type { Destination } from '../resources/destination.ts'
import type { Source } from '../resources/source.ts'
import type { CodeVersion } from '../transformations/code.ts'
import type { Library } from '../transformations/library.ts'
import type { Transformation } from '../transformations/transformation.ts'

/** The stored facts about the owner's creation. */
export interface Ownership {
  readonly userId: string
  /** SHA-256 of the last token from the setting, as hex, and the access token created from it. */
  readonly given: { readonly digest: string; readonly tokenId: string } | null
  /** Digests of earlier tokens from the setting, the last one first. Absent until one was replaced. */
  readonly replaced?: readonly string[]
  /** A generated token that was not printed yet. */
  readonly unprintedTokenId: string | null
}

/** One row to store, or to remove if the value is undefined. The store and the memory apply the same data. */
export type Change =
  | { readonly kind: 'source'; readonly id: string; readonly value: Source | undefined }
  | { readonly kind: 'destination'; readonly id: string; readonly value: Destination | undefined }
  | { readonly kind: 'connection'; readonly id: string; readonly value: Connection | undefined }
  | { readonly kind: 'transformation'; readonly id: string; readonly value: Transformation | undefined }
  | { readonly kind: 'library'; readonly id: string; readonly value: Library | undefined }
  | CodeVersionMade
  | { readonly kind: 'user'; readonly id: string; readonly value: User | undefined }
  | { readonly kind: 'access-token'; readonly id: string; readonly value: AccessToken | undefined }
  /** Removing a token removes its sessions, without changes of their own. */
  | { readonly kind: 'session'; readonly id: string; readonly value: Session | undefined }
  /** Its id is its key. */
  | { readonly kind: 'credential'; readonly id: string; readonly value: Credential | undefined }
  | { readonly kind: 'ownership'; readonly value: Ownership }

/**
 * A new version of a transformation or library, or one that gets its pins; created with its owner, which it outlives.
 */
export interface CodeVersionMade {
  readonly kind: 'code-version'
  readonly id: string
  readonly owner: CodeOwner
  readonly value: CodeVersion
}

export interface CodeOwner {
  readonly kind: 'transformation' | 'library'
  readonly id: string
}

/**
 * Whether a change belongs to the configuration and raises its revision; changes of accounts and credentials do not.
 */
export function isConfiguration({ kind }: Change): boolean {
  return CONFIGURATION.includes(kind)
}

const CONFIGURATION: readonly Change['kind'][] = [
  'source',
  'destination',
  'connection',
  'transformation',
  'library',
  'code-version',
]
