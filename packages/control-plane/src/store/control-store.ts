import type { Queries } from '@millrace/postgres'
import type { AuditEntry, AuditKind } from '../audit/audit-entry.ts'
import type { AccessToken, Session, User } from '../people/accounts.ts'
import type { Connection } from '../resources/connection.ts'
import type { Credential } from '../resources/credential.ts'
import type { Destination } from '../resources/destination.ts'
import type { Source } from '../resources/source.ts'
import type { CodeVersion, CodeVersionHeader, LibraryPin } from '../transformations/code.ts'
import type { Library } from '../transformations/library.ts'
import type { Transformation } from '../transformations/transformation.ts'
import type { Change, CodeOwner, Ownership } from '../workspace/change.ts'
import type { SecretBox } from '../workspace/secret-box.ts'

/** Opens the store of a control plane, and creates its workspace in an empty database. */
export type ControlStoreOpener = (secrets: SecretBox, newWorkspace: NewWorkspace) => Promise<ControlStore>

export interface NewWorkspace {
  readonly id: string
  readonly createdAt: number
}

/** The whole stored state. Each list is ordered by creation. */
export interface StoredState {
  readonly workspaceId: string
  readonly version: StoredVersion
  readonly ownership: Ownership | undefined
  readonly sources: readonly Source[]
  readonly destinations: readonly Destination[]
  readonly connections: readonly Connection[]
  readonly transformations: readonly Transformation[]
  readonly libraries: readonly Library[]
  readonly users: readonly User[]
  readonly accessTokens: readonly AccessToken[]
  readonly sessions: readonly Session[]
  readonly credentials: readonly Credential[]
}

export interface StoredVersion {
  /** Grows by one with every commit. */
  readonly commits: number
  /** Grows by one with every commit that changes the configuration. */
  readonly revision: number
}

export function isSameVersion(a: StoredVersion, b: StoredVersion): boolean {
  return a.commits === b.commits && a.revision === b.revision
}

/**
 * Storage of the control plane: one workspace, read as a whole at the start and changed by commits.
 *
 * @see conformance.ts for the promises of every engine
 */
export interface ControlStore extends AsyncDisposable {
  /** Whether other processes change the state, too: then this process must follow their commits. */
  readonly isShared: boolean
  load(): Promise<StoredState>
  /** The version of the stored state; cheap enough to poll. */
  version(): Promise<StoredVersion>
  /**
   * Calls back when another process may have committed. Only a hint: it can be missing or late.
   *
   * @returns a function that removes the listener.
   */
  onHint(listener: () => void): () => void
  /**
   * Stores all changes and their audit entries or, if it throws, none; resolves once they survive power loss. Removing
   * a token also removes its sessions.
   *
   * @param before the version on which the changes are based.
   * @param beside writes of another part, in the same transaction.
   * @throws StaleStateError if the stored version differs.
   */
  commit(
    before: StoredVersion,
    changes: readonly Change[],
    entries: readonly AuditEntry[],
    beside?: WriteBeside,
  ): Promise<StoredVersion>
  /**
   * The newest versions of a transformation or library, ordered by creation, also of a removed one.
   *
   * @param most maximum number.
   */
  codeVersions(owner: CodeOwner, most: number): Promise<CodeVersionHeader[]>
  codeVersion(owner: CodeOwner, id: string): Promise<CodeVersion | undefined>
  /** A version of any library. */
  libraryVersion(id: string): Promise<{ readonly libraryId: string; readonly version: CodeVersion } | undefined>
  /** The versions of libraries that a version of a transformation pins, by their import names. */
  pinnedVersions(pins: readonly LibraryPin[]): Promise<ReadonlyMap<string, CodeVersion>>
  /** Stores the last use of a token; ignores a removed token. */
  noteTokenUse(tokenId: string, at: number): Promise<void>
  /** Stores the last use of a session; ignores a removed session. */
  noteSessionUse(sessionId: string, at: number): Promise<void>
  /** Stores entries that belong to no change: all of them or, if it throws, none. */
  addAuditEntries(entries: readonly AuditEntry[]): Promise<void>
  /** Newest first. */
  auditEntries(query: AuditQuery): Promise<AuditEntry[]>
  /** Deletes entries older than `before`, up to a maximum. @returns the number deleted. */
  pruneAuditEntries(before: number, most: number): Promise<number>
}

/** Writes rows of another part of the schema in the transaction of a commit. */
export type WriteBeside = (queries: Queries) => Promise<void>

/** Filter of audit entries; undefined members do not restrict. */
export interface AuditQuery {
  /** Milliseconds since 1970, inclusive. */
  readonly from?: number | undefined
  /** Exclusive. */
  readonly to?: number | undefined
  /** Case-insensitive. */
  readonly actor?: string | undefined
  readonly kind?: AuditKind | undefined
  /** Only entries after this one. */
  readonly after?: Pick<AuditEntry, 'at' | 'id'> | undefined
  readonly limit: number
}

export class StaleStateError extends Error {
  override readonly name = 'StaleStateError'
  readonly code = 'stale_state'

  constructor() {
    super('the stored state has changed')
  }
}

/** The database went away during a commit: it is unknown whether the change is stored. */
export class CommitInDoubtError extends Error {
  override readonly name = 'CommitInDoubtError'
  readonly code = 'commit_in_doubt'

  constructor(cause: unknown) {
    super('it is unknown whether the change is stored', { cause })
  }
}

/** The data was written with another secret key; nothing was changed. */
export class WrongSecretKeyError extends Error {
  override readonly name = 'WrongSecretKeyError'
  readonly code = 'wrong_secret_key'

  constructor(where: string) {
    super(
      `The secret key does not match ${where}: its secrets were saved with another key. ` +
        'Start with that key (MILLRACE_SECRET_KEY or the file secret.key). Nothing was changed.',
    )
  }
}

/** The data was written by a newer version of this program; nothing was changed. */
export class NewerDatabaseError extends Error {
  override readonly name = 'NewerDatabaseError'
  readonly code = 'newer_database'

  constructor(where: string) {
    super(
      `${where} was written by a newer version of Millrace. Start that version or a later one. Nothing was changed.`,
    )
  }
}
