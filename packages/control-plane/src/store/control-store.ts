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

/** All that is stored. Each list is in order of creation. */
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
  /** One more with every commit. */
  readonly commits: number
  /** One more with every commit that changes the configuration. */
  readonly revision: number
}

/**
 * Where the control plane keeps its state: one workspace, read as a whole at the start and changed by commits.
 *
 * @see store/describe-control-store.ts for what every engine promises
 */
export interface ControlStore extends AsyncDisposable {
  load(): Promise<StoredState>
  /**
   * Stores all the changes and their audit entries or, when it throws, none; resolves once they survive power loss. A token
   * that goes takes its sessions along.
   *
   * @param before the version that the changes were made for.
   * @throws StaleStateError if the stored version is another one.
   */
  commit(before: StoredVersion, changes: readonly Change[], entries: readonly AuditEntry[]): Promise<StoredVersion>
  /**
   * The newest versions of a transformation or library, in order of creation, also of one that is gone.
   *
   * @param most how many.
   */
  codeVersions(owner: CodeOwner, most: number): Promise<CodeVersionHeader[]>
  codeVersion(owner: CodeOwner, id: string): Promise<CodeVersion | undefined>
  /** A version of a library, whichever it is of. */
  libraryVersion(id: string): Promise<{ readonly libraryId: string; readonly version: CodeVersion } | undefined>
  /** The versions of libraries that a version of a transformation runs with, by their import names. */
  pinnedVersions(pins: readonly LibraryPin[]): Promise<ReadonlyMap<string, CodeVersion>>
  /** Notes when a token was last used; one that is gone is no error. */
  noteTokenUse(tokenId: string, at: number): Promise<void>
  /** Notes when a session was last used; one that is gone is no error. */
  noteSessionUse(sessionId: string, at: number): Promise<void>
  /** Stores entries that belong to no change: all of them or, when it throws, none. */
  addAuditEntries(entries: readonly AuditEntry[]): Promise<void>
  /** Newest first. */
  auditEntries(query: AuditQuery): Promise<AuditEntry[]>
  /** Removes entries older than `before`, at most so many of them. @returns how many it removed. */
  pruneAuditEntries(before: number, most: number): Promise<number>
}

/** Which audit entries are asked for; what is undefined does not matter. */
export interface AuditQuery {
  /** Milliseconds since 1970; at this time or later. */
  readonly from?: number | undefined
  /** Earlier than this. */
  readonly to?: number | undefined
  /** Compared without letter case. */
  readonly actor?: string | undefined
  readonly kind?: AuditKind | undefined
  /** Only entries that stand behind this one. */
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

/** The data was made with another secret key; nothing was changed. */
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

/** The data was made by a newer version of this program; nothing was changed. */
export class NewerDatabaseError extends Error {
  override readonly name = 'NewerDatabaseError'
  readonly code = 'newer_database'

  constructor(where: string) {
    super(
      `${where} was written by a newer version of Millrace. Start that version or a later one. Nothing was changed.`,
    )
  }
}
