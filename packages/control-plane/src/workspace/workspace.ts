import { resourceId } from '@millrace/protocol'
import type { Clock, Logger } from '@millrace/std'
import type { AuditEntry, Audited } from '../audit/audit-entry.ts'
import { type Accounts, buildAccounts } from '../people/accounts.ts'
import type { Author } from '../people/author.ts'
import { inDoubt, unauthorized, unavailable } from '../refusals.ts'
import type { Credential } from '../resources/credential.ts'
import {
  CommitInDoubtError,
  type ControlStore,
  isSameVersion,
  StaleStateError,
  type StoredState,
  type StoredVersion,
  type WriteBeside,
} from '../store/control-store.ts'
import { type Change, isConfiguration, type Ownership } from './change.ts'
import type { Deliveries } from './deliveries.ts'
import { areSame, sharedResources } from './shared-resources.ts'
import { buildSnapshot, type Snapshot } from './snapshot.ts'

export interface WorkspaceOptions {
  readonly store: ControlStore
  readonly clock: Clock
  readonly random: (byteCount: number) => Uint8Array
  /** Number of partitions of the log. */
  readonly partitions: number
  readonly deliveries: Deliveries
  readonly logger: Logger
}

export interface WorkspaceState {
  readonly snapshot: Snapshot
  readonly accounts: Accounts
  /** By key, ordered by creation. */
  readonly credentials: ReadonlyMap<string, Credential>
  readonly ownership: Ownership | undefined
}

/** The basis of a change. Nothing else changes until it is done. */
export interface ChangeBase extends WorkspaceState {
  /** Time of the change: later than every earlier change, so it gives the order of creation. */
  readonly at: number
  /** The configuration revision that the change creates. */
  readonly nextRevision: number
}

export interface Decision<T> {
  readonly changes: readonly Change[]
  /** One for each resource that changes; stored with the changes. */
  readonly audit: readonly Audited[]
  readonly result: T
}

const MAX_WAITING_CHANGES = 1_000
/** How often a change is decided anew because another process committed first. */
const MAX_RETRIES = 5

/**
 * The state of the workspace in memory, and the only place where it changes. Changes run one after the other: each is
 * decided on the current state, stored, then visible to all at once. A change that is not stored is never visible.
 */
export class Workspace {
  readonly id: string
  readonly clock: Clock
  readonly random: (byteCount: number) => Uint8Array
  readonly partitions: number
  readonly #store: ControlStore
  readonly #deliveries: Deliveries
  readonly #logger: Logger
  readonly #listeners = new Set<(snapshot: Snapshot) => void>()
  #state: WorkspaceState
  #version: StoredVersion
  #latest: number
  #last: Promise<unknown> = Promise.resolve()
  #isInDoubt = false
  #waiting = 0

  private constructor(options: WorkspaceOptions, stored: StoredState) {
    this.id = stored.workspaceId
    this.clock = options.clock
    this.random = options.random
    this.partitions = options.partitions
    this.#store = options.store
    this.#deliveries = options.deliveries
    this.#logger = options.logger
    this.#version = stored.version
    this.#state = stateOf(stored, this.clock)
    this.#latest = latestOf(stored)
  }

  static async load(options: WorkspaceOptions): Promise<Workspace> {
    return new Workspace(options, await options.store.load())
  }

  /** Whether other processes change it, too. */
  get isShared(): boolean {
    return this.#store.isShared
  }

  /** Whether a change may be stored that the state in memory does not have; `catchUp` ends it. */
  get isInDoubt(): boolean {
    return this.#isInDoubt
  }

  get state(): WorkspaceState {
    return this.#state
  }

  /** @returns a function that removes the listener. */
  onChange(listener: (snapshot: Snapshot) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Runs a change; resolves when it is stored, visible, and known to the delivery side.
   *
   * @param by the author in the audit log.
   * @param decide throws the ApiError that refuses the change; then nothing changes.
   * @throws ApiError 401 if the author's token was revoked since the request arrived.
   */
  change<T>(by: Author, decide: (moment: ChangeBase) => Decision<T> | Promise<Decision<T>>): Promise<T> {
    if (this.#waiting >= MAX_WAITING_CHANGES) return Promise.reject(unavailable())
    this.#waiting++
    const done = this.#last.then(() => this.#carryOut(by, decide)).finally(() => this.#waiting--)
    this.#last = done.catch(() => undefined)
    return done
  }

  get version(): StoredVersion {
    return this.#version
  }

  /**
   * Takes over the stored state if another process has changed it; waits for the changes of this process.
   *
   * @throws if the state cannot be read; the state in memory stays.
   */
  catchUp(): Promise<void> {
    const done = this.#last.then(() => this.#takeOver())
    this.#last = done.catch(() => undefined)
    return done
  }

  /** Stores the use in the background of an answer: a full disk must not block reads. */
  async noteTokenUse(tokenId: string, at: number): Promise<void> {
    const { accounts } = this.#state
    const token = accounts.tokens.get(tokenId)
    if (token === undefined) return
    const tokens = new Map(accounts.tokens).set(tokenId, { ...token, lastUsedAt: at })
    this.#state = { ...this.#state, accounts: buildAccounts(accounts.users, tokens, accounts.sessions) }
    try {
      await this.#store.noteTokenUse(tokenId, at)
    } catch (error) {
      this.#logger.warn({ tokenId, err: error }, 'the last use of a token was not stored')
    }
  }

  /** In the background, as for a token. */
  async noteSessionUse(sessionId: string, at: number): Promise<void> {
    const { accounts } = this.#state
    const session = accounts.sessions.get(sessionId)
    if (session === undefined) return
    const sessions = new Map(accounts.sessions).set(sessionId, { ...session, lastUsedAt: at })
    this.#state = { ...this.#state, accounts: buildAccounts(accounts.users, accounts.tokens, sessions) }
    try {
      await this.#store.noteSessionUse(sessionId, at)
    } catch (error) {
      this.#logger.warn({ sessionId, err: error }, 'the last use of a session was not stored')
    }
  }

  /**
   * The current time, but later than every earlier result: it gives the order of creation even if the wall clock is set
   * back.
   */
  nextTime(): number {
    this.#latest = Math.max(this.clock.now(), this.#latest + 1)
    return this.#latest
  }

  newId(at: number): string {
    return resourceId(at, this.random(14))
  }

  /** Resolves when no change is running. */
  async settled(): Promise<void> {
    while (this.#waiting > 0) await this.#last
  }

  async #carryOut<T>(by: Author, decide: (moment: ChangeBase) => Decision<T> | Promise<Decision<T>>): Promise<T> {
    // What another process has just made must not be refused as unknown.
    if (this.#store.isShared) {
      await this.#takeOver().catch((error: unknown) => {
        throw unavailable(error)
      })
    }
    for (let retries = 0; ; retries++) {
      if (by.tokenId !== undefined && !this.#state.accounts.tokens.has(by.tokenId)) throw unauthorized()
      const at = this.nextTime()
      const nextRevision = this.#version.revision + 1
      const { changes, audit, result } = await decide({ ...this.#state, at, nextRevision })
      if (changes.length === 0) return result
      try {
        const beside = await this.#beside(changes, nextRevision)
        this.#version = await this.#store.commit(this.#version, changes, this.#entries(by, audit, at), beside)
      } catch (error) {
        if (error instanceof StaleStateError) {
          // Another process committed first, or a commit of this one was stored although it failed.
          await this.#reload()
          if (retries < MAX_RETRIES) continue
        }
        this.#logger.error({ err: error, retries }, 'a change could not be stored')
        if (!(error instanceof CommitInDoubtError)) throw unavailable(error)
        this.#isInDoubt = true
        throw inDoubt(error)
      }
      // Reads the state again: the use of a token may have been stored meanwhile.
      const before = this.#state
      this.#state = this.#applied(before, changes, this.#version.revision)
      if (this.#state.snapshot !== before.snapshot) await this.#announce(before.snapshot)
      return result
    }
  }

  /** What the delivery side stores with a change of the configuration. */
  async #beside(changes: readonly Change[], revision: number): Promise<WriteBeside | undefined> {
    if (!this.#store.isShared || !changes.some(isConfiguration)) return undefined
    return this.#deliveries.beside?.(this.#applied(this.#state, changes, revision).snapshot)
  }

  /** @throws if the store does not answer. */
  async #takeOver(): Promise<void> {
    if (!isSameVersion(await this.#store.version(), this.#version)) await this.#reload()
    this.#isInDoubt = false
  }

  /** Replaces the state with the stored one, as a start does. */
  async #reload(): Promise<void> {
    try {
      const stored = await this.#store.load()
      const before = this.#state
      this.#version = stored.version
      this.#latest = Math.max(this.#latest, latestOf(stored))
      this.#state = stateOf(stored, this.clock, before.snapshot)
      if (this.#state.snapshot !== before.snapshot) await this.#announce(before.snapshot)
    } catch (error) {
      this.#logger.error({ err: error }, 'the stored state cannot be read')
      throw unavailable(error)
    }
  }

  /** In the order of arrival, also when sorted by id. */
  #entries({ actor, tokenName, address, requestId }: Author, audit: readonly Audited[], at: number): AuditEntry[] {
    const ids = audit.map(() => this.newId(at)).sort()
    return audit.map((audited, i) => ({
      id: ids[i]!,
      at,
      actor,
      tokenName,
      address,
      requestId,
      ...audited,
      outcome: 'ok',
    }))
  }

  #applied(state: WorkspaceState, changes: readonly Change[], revision: number): WorkspaceState {
    const { snapshot, accounts } = state
    const sources = new Map(snapshot.sources)
    const destinations = new Map(snapshot.destinations)
    const connections = new Map(snapshot.connections)
    const transformations = new Map(snapshot.transformations)
    const libraries = new Map(snapshot.libraries)
    const users = new Map(accounts.users)
    const tokens = new Map(accounts.tokens)
    const sessions = new Map(accounts.sessions)
    const credentials = new Map(state.credentials)
    let { ownership } = state
    for (const change of changes) {
      switch (change.kind) {
        case 'source':
          put(sources, change)
          break
        case 'destination':
          put(destinations, change)
          break
        case 'connection':
          put(connections, change)
          break
        case 'transformation':
          put(transformations, change)
          break
        case 'library':
          put(libraries, change)
          break
        case 'code-version':
          // The owner holds it, as far as it is needed.
          break
        case 'user':
          put(users, change)
          break
        case 'access-token':
          put(tokens, change)
          break
        case 'session':
          put(sessions, change)
          break
        case 'credential':
          put(credentials, change)
          break
        case 'ownership':
          ownership = change.value
      }
    }
    for (const { id, tokenId } of accounts.sessions.values()) if (!tokens.has(tokenId)) sessions.delete(id)
    const resources = { sources, destinations, connections, transformations, libraries }
    return {
      snapshot: changes.some(isConfiguration) ? buildSnapshot(revision, resources, () => this.clock.now()) : snapshot,
      accounts: changes.every(isConfiguration) ? accounts : buildAccounts(users, tokens, sessions),
      credentials: changes.some(({ kind }) => kind === 'credential') ? credentials : state.credentials,
      ownership,
    }
  }

  async #announce(before: Snapshot): Promise<void> {
    const after = this.#state.snapshot
    for (const listener of this.#listeners) listener(after)
    try {
      await this.#deliveries.changed(before, after)
    } catch (error) {
      // The change is stored and visible. The delivery side catches up as after a crash.
      this.#logger.error({ revision: after.revision, err: error }, 'delivery could not apply a configuration change')
    }
  }
}

/** @param known shares its parts with the state, as far as they are equal. */
function stateOf(stored: StoredState, clock: Clock, known?: Snapshot): WorkspaceState {
  const { users, accessTokens, sessions, credentials, ownership, version } = stored
  const resources = sharedResources(stored, known)
  const isKnown = known !== undefined && known.revision === version.revision && areSame(resources, known)
  return {
    snapshot: isKnown ? known : buildSnapshot(version.revision, resources, () => clock.now()),
    accounts: buildAccounts(byId(users), byId(accessTokens), byId(sessions)),
    credentials: new Map(credentials.map((credential) => [credential.key, credential])),
    ownership,
  }
}

/** The latest time in the stored state. */
function latestOf(stored: StoredState): number {
  const { sources, destinations, connections, transformations, libraries, users, credentials, accessTokens } = stored
  const timed = [sources, destinations, connections, transformations, libraries, users, credentials].flat()
  const made = accessTokens.reduce((latest, { createdAt }) => Math.max(latest, createdAt), 0)
  return timed.reduce((latest, { updatedAt }) => Math.max(latest, updatedAt), made)
}

function byId<T extends { readonly id: string }>(items: readonly T[]): Map<string, T> {
  return new Map(items.map((item) => [item.id, item]))
}

function put<T>(items: Map<string, T>, { id, value }: { readonly id: string; readonly value: T | undefined }): void {
  if (value === undefined) items.delete(id)
  else items.set(id, value)
}
