import { formatTime, resourceId } from '@millrace/protocol'
import { type Clock, type Logger, RateLimiter } from '@millrace/std'
import { AuditLog } from './audit/audit-log.ts'
import { WorkspaceDocument } from './configuration/workspace-document.ts'
import { carriesSession, claimOf, type RequestHeaders } from './http/people/session-halves.ts'
import { AccessTokens } from './people/access-tokens.ts'
import type { Actor } from './people/actor.ts'
import { Authentication, type SignIn } from './people/authentication.ts'
import { MILLRACE } from './people/author.ts'
import { confirmOwnerTokenPrinted, ensureOwner, newOwnerToken, type Owner, type OwnerSettings } from './people/owner.ts'
import { Sessions } from './people/sessions.ts'
import { Users } from './people/users.ts'
import { unavailable } from './refusals.ts'
import { Connections } from './resources/connections.ts'
import { Credentials } from './resources/credentials.ts'
import type { DestinationTypes } from './resources/destination-types.ts'
import { Destinations } from './resources/destinations.ts'
import { Sources } from './resources/sources.ts'
import type { ControlStore, ControlStoreOpener } from './store/control-store.ts'
import { CodeChecks } from './transformations/code-checks.ts'
import type { CodeRuntime, CodeTemplate } from './transformations/code-runtime.ts'
import { CodeTests, type Mask } from './transformations/code-tests.ts'
import { Libraries } from './transformations/libraries.ts'
import { type LogLineBook, LogLines } from './transformations/log-lines.ts'
import { Transformations } from './transformations/transformations.ts'
import { CommitFollower } from './workspace/commit-follower.ts'
import { AttachedDeliveries, type Deliveries, type RuleCountAsked, type RuleCounted } from './workspace/deliveries.ts'
import { SecretBox } from './workspace/secret-box.ts'
import type { Snapshot } from './workspace/snapshot.ts'
import { Workspace } from './workspace/workspace.ts'

export interface ControlPlaneOptions {
  /** Opens the database. */
  readonly store: ControlStoreOpener
  /** Number of partitions of the log, over which sources are spread. */
  readonly partitions: number
  /** 32 bytes; the key that sealed the secrets in the database. */
  readonly secretKey: Uint8Array
  readonly clock: Clock
  /** Cryptographically strong. */
  readonly random: (byteCount: number) => Uint8Array
  /** Version of the program, for /v2/admin/info. */
  readonly version: string
  readonly destinationTypes: DestinationTypes
  /** Runs user code. */
  readonly code: CodeRuntime
  readonly codeTemplates: readonly CodeTemplate[]
  /** Default: in the memory of this process. */
  readonly logLines?: LogLineBook | undefined
  /** Masks secrets in output. */
  readonly maskingOf: (secrets: readonly string[]) => Mask
  readonly logger: Logger
  /** Requests per minute and token; 0 means no limit. */
  readonly apiRequestsPerMinute: number
  /** In the name of the cookie: distinguishes several servers of one host. */
  readonly serverName: string
  /** Addresses and CIDR ranges of proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[]
}

/**
 * The configuration of one workspace: its resources, its users, and the snapshot that all other parts use.
 *
 * @see contracts/control-plane.md
 */
export class ControlPlane implements AsyncDisposable {
  readonly sources: Sources
  readonly destinations: Destinations
  readonly connections: Connections
  readonly transformations: Transformations
  readonly libraries: Libraries
  readonly codeTests: CodeTests
  /** Lines that live runs log; the code that runs them adds the lines of transformations with `captureLogs`. */
  readonly logLines: LogLineBook
  readonly credentials: Credentials
  readonly users: Users
  readonly configuration: WorkspaceDocument
  readonly accessTokens: AccessTokens
  readonly sessions: Sessions
  readonly audit: AuditLog
  readonly options: ControlPlaneOptions
  readonly rates: RateLimiter
  readonly #store: ControlStore
  readonly #workspace: Workspace
  readonly #authentication: Authentication
  readonly #deliveries: AttachedDeliveries
  readonly #startedAt: number
  /** Only where other processes change the configuration, too. */
  readonly #follower: CommitFollower | undefined

  private constructor(
    options: ControlPlaneOptions,
    store: ControlStore,
    workspace: Workspace,
    deliveries: AttachedDeliveries,
  ) {
    const { clock, destinationTypes } = options
    this.options = options
    this.logLines = options.logLines ?? new LogLines()
    this.#store = store
    this.#workspace = workspace
    this.#deliveries = deliveries
    this.audit = new AuditLog(store, workspace, options.logger)
    this.#authentication = new Authentication(workspace, this.audit)
    this.#startedAt = clock.monotonic()
    this.rates = new RateLimiter(clock)
    this.sources = new Sources(workspace, deliveries)
    this.destinations = new Destinations(workspace, deliveries, destinationTypes)
    this.connections = new Connections(workspace, deliveries, destinationTypes)
    const checks = new CodeChecks(options.code)
    this.transformations = new Transformations(workspace, store, checks)
    this.libraries = new Libraries(workspace, store, checks)
    this.credentials = new Credentials(workspace)
    const { transformations, credentials } = this
    const { code: runtime, maskingOf } = options
    this.codeTests = new CodeTests({ workspace, store, runtime, checks, transformations, credentials, maskingOf })
    this.users = new Users(workspace)
    this.configuration = new WorkspaceDocument(workspace, deliveries, destinationTypes, checks, store)
    this.accessTokens = new AccessTokens(workspace)
    this.sessions = new Sessions(workspace)
    if (store.isShared) {
      const { logger } = options
      const catchUp = () => workspace.catchUp()
      this.#follower = new CommitFollower({ store, clock, logger, current: () => workspace.version, catchUp })
    }
  }

  /**
   * Opens the database and reads all of it.
   *
   * @throws WrongSecretKeyError, NewerDatabaseError, before it changes anything.
   */
  static async open(options: ControlPlaneOptions): Promise<ControlPlane> {
    const { secretKey, clock, random } = options
    const now = clock.now()
    const newWorkspace = { id: resourceId(now, random(14)), createdAt: now }
    const store = await options.store(new SecretBox(secretKey, random), newWorkspace)
    try {
      const deliveries = new AttachedDeliveries()
      return new ControlPlane(options, store, await Workspace.load({ ...options, store, deliveries }), deliveries)
    } catch (error) {
      await store[Symbol.asyncDispose]()
      throw error
    }
  }

  /** Connects the delivery side, which counts waiting events and follows changes; call it before the first change. */
  attach(deliveries: Deliveries): void {
    this.#deliveries.attach(deliveries)
  }

  /**
   * What rules would have decided about the stored events of a source.
   *
   * @throws ApiError 404 for another source, 503.
   */
  countByRules(asked: RuleCountAsked): Promise<RuleCounted> {
    this.sources.get(asked.sourceId)
    return this.#deliveries.countByRules(asked)
  }

  get workspaceId(): string {
    return this.#workspace.id
  }

  /** The current configuration; cheap enough for every request. */
  snapshot(): Snapshot {
    return this.#workspace.state.snapshot
  }

  /**
   * For how long the configuration in memory has not been confirmed as the stored one; undefined where only this
   * process changes it.
   */
  snapshotAgeMs(): number | undefined {
    return this.#follower?.ageMs()
  }

  /** Takes over what other processes have stored, without waiting for the next poll. @throws if it cannot be read now. */
  catchUp(): Promise<void> {
    return this.#workspace.catchUp()
  }

  /**
   * Calls back with each new snapshot, in the turn in which it takes effect and before the change is answered.
   *
   * @returns a function that removes the listener.
   */
  onChange(listener: (snapshot: Snapshot) => void): () => void {
    return this.#workspace.onChange(listener)
  }

  /**
   * Identifies the author of a request. The answer is delayed if the address has failed often. After a change that may be stored,
   * it reads the state first: a request must not see it without the change, and the next one with it.
   *
   * @param headers of the request.
   * @param address of the client, as limits count it: `limitAddress`.
   * @param requestId of the answer, if it has one.
   * @throws ApiError 503 while it is unknown whether the last change is stored.
   */
  async authenticate(
    headers: RequestHeaders,
    address: string,
    requestId: string | null = null,
  ): Promise<Actor | undefined> {
    if (this.#workspace.isInDoubt) {
      await this.catchUp().catch((error: unknown) => {
        throw unavailable(error)
      })
    }
    return this.#authentication.authenticate(claimOf(headers, this.options.serverName), address, requestId)
  }

  /**
   * Checks an e-mail address and a token to begin a session. Delayed like `authenticate`.
   *
   * @throws ApiError 429 after ten wrong attempts of the address in a minute, even for correct credentials.
   */
  beginSession(credentials: SignIn, address: string, requestId: string | null): Promise<Actor | undefined> {
    return this.#authentication.beginSession(credentials, address, requestId)
  }

  /** Whether a request contains one half of a session, valid or not: then it comes from the dashboard. */
  carriesSession(headers: RequestHeaders): boolean {
    return carriesSession(headers, this.options.serverName)
  }

  /** The author of an earlier moment as of now; undefined if no longer authorised. For long bodies and answers. */
  current(actor: Actor): Actor | undefined {
    return this.#authentication.current(actor)
  }

  /**
   * Creates the owner, or follows changed variables. Call it at every start.
   *
   * @throws OwnerSettingError
   */
  ensureOwner(settings: OwnerSettings): Promise<Owner> {
    return ensureOwner(this.#workspace, settings)
  }

  /** Call it after printing `tokenToPrint`; until then every start generates a new token. */
  confirmOwnerTokenPrinted(): Promise<void> {
    return confirmOwnerTokenPrinted(this.#workspace)
  }

  /** Another token of the owner, for the command line on this machine. @returns undefined if the owner was removed. */
  newOwnerToken(name: string): Promise<string | undefined> {
    return newOwnerToken(this.#workspace, name)
  }

  /**
   * Runs work between two changes: no change is decided meanwhile, and all earlier changes are stored and known to the
   * delivery side.
   */
  betweenChanges<T>(work: () => Promise<T>): Promise<T> {
    return this.#workspace.change(MILLRACE, async () => ({ changes: [], audit: [], result: await work() }))
  }

  /** The control plane's part of GET /v2/admin/info. */
  info() {
    const { count, addresses, lastAt } = this.#authentication.refusedSignIns()
    return {
      version: this.options.version,
      uptimeSeconds: Math.floor((this.options.clock.monotonic() - this.#startedAt) / 1000),
      revision: this.snapshot().revision,
      refusedSignIns: { count, addresses, lastAt: lastAt === undefined ? null : formatTime(lastAt) },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#authentication.close()
    await this.#follower?.[Symbol.asyncDispose]()
    await this.#workspace.settled()
    await this.audit.close()
    await this.#store[Symbol.asyncDispose]()
  }
}
