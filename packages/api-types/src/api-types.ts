/*
 * The components of the OpenAPI document. Generated: do not edit; run npm run api:types.
 *
 * Members that a server ignores in a request are left out.
 */

type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject
type JsonObject = { [name: string]: JsonValue }

export type AccessToken = {
  /** Sorts by creation. */
  readonly id: string
  readonly name: string
  readonly role: Role
  /** Sorts by creation. */
  readonly userId: string
  readonly email: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly createdAt: string
  readonly expiresAt: string | null
  /** To the minute. */
  readonly lastUsedAt: string | null
}

export type AccessTokenWritten = {
  readonly name: string
  /** At most the role of the request's token. */
  readonly role: 'viewer' | 'editor' | 'admin'
  /** A time in the future; null: never. The token ends no later than the request's token. */
  readonly expiresAt?: string | null
}

export type AppliedConfiguration = {
  /** Increases with every change of the configuration. */
  readonly revision: number
  readonly changes: readonly PlannedChange[]
}

export type Attempt = {
  readonly n: number
  /** RFC 3339 in UTC with milliseconds. */
  readonly at: string
  readonly durationMs: number
  /** How many events its request carried; absent for one. */
  readonly batch?: number
  /** Status of the answer; 500 or above also without an answer. */
  readonly status: number
  readonly class: 'delivered' | 'retry' | 'abort'
  readonly text: string | null
}

export type AuditEntry = {
  /** Sorts by creation. */
  readonly id: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly at: string
  /** E-mail address; `millrace` is the server itself, `unknown` an unknown user. */
  readonly actor: string
  readonly tokenName: string | null
  readonly address: string | null
  readonly action: string
  readonly kind: AuditKind
  readonly resourceId: string | null
  /** `ok`, or the code of the error that refused it. */
  readonly outcome: string
  readonly requestId: string | null
  readonly diff: readonly DiffLine[]
}

export type AuditKind =
  | 'source'
  | 'destination'
  | 'connection'
  | 'transformation'
  | 'library'
  | 'user'
  | 'access-token'
  | 'credential'
  | 'dead-letter'
  | 'replay'
  | 'configuration'
  | 'backup'
  | 'catalog'
  | 'session'

export type AuthorizationBegun = {
  readonly url: string
  readonly state: string
  readonly expiresAt: string
}

export type AuthorizationCode = {
  readonly state: string
  readonly code: string
}

export type AuthorizationFinished = {
  readonly refreshToken: string | null
  readonly error: string | null
}

export type AuthorizationWanted = {
  readonly type: string
  readonly config: JsonObject
  readonly destinationId?: string
  readonly redirectUri: string
}

export type Backup = {
  /** Name of its file. */
  readonly file: string
  readonly state: 'running' | 'done' | 'failed'
  /** Why it failed. */
  readonly reason?: string
}

export type Batch = {
  readonly batch: readonly {
    readonly type: string
    readonly userId?: string | number
    readonly anonymousId?: string | number
    /** Generated if omitted. */
    readonly messageId?: string
    /** Name of a track event. */
    readonly event?: string
    /** Name of a page or screen. */
    readonly name?: string
    readonly properties?: JsonObject
    readonly traits?: JsonObject
    readonly context?: JsonObject
    readonly integrations?: JsonObject
    readonly originalTimestamp?: string
    readonly sentAt?: string
    /** If there is no Authorization header. */
    readonly writeKey?: string
  }[]
  readonly sentAt?: string
  /** Merged into `context` of each event; the event's own values win. */
  readonly context?: JsonObject
  /** Merged into `integrations` of each event; the event's own values win. */
  readonly integrations?: JsonObject
  /** exit or first: the server remembers the events for a day. repeat: it drops events that it remembers. */
  readonly attempt?: string
  /** If there is no Authorization header. */
  readonly writeKey?: string
}

export type CatalogStatus = {
  readonly LagEvents: number
  readonly LagSeconds: number
  readonly Positions: readonly string[]
  readonly Sources: readonly {
    readonly WriteKey: string
    readonly Models: number
    readonly Cut: { readonly [name: string]: number }
  }[]
}

export type CodeLanguage = 'javascript' | 'typescript'

export type CodeVersion = {
  /** Sorts by creation. */
  readonly versionId: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly createdAt: string
  /** E-mail of the user, or `millrace`. */
  readonly createdBy: string
  /** Whether it is the published version. */
  readonly published: boolean
  readonly language: CodeLanguage
  readonly code: string
  /** Import names of the libraries that the code imports. */
  readonly imports: readonly string[]
}

export type CodeVersionHead = {
  /** Sorts by creation. */
  readonly versionId: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly createdAt: string
  /** E-mail of the user, or `millrace`. */
  readonly createdBy: string
  /** Whether it is the published version. */
  readonly published: boolean
}

export type Configuration = {
  /** Increases with every change of the configuration. */
  readonly revision: number
  /** Sources, libraries, transformations and destinations by key, and the connections between them. */
  readonly document: JsonObject
}

export type ConfigurationPlan = {
  /** Increases with every change of the configuration. */
  readonly revision: number
  readonly changes: readonly PlannedChange[]
  readonly errors: readonly DocumentFault[]
}

export type Connection = {
  /** Sorts by creation. */
  readonly id: string
  /** Sorts by creation. */
  readonly sourceId: string
  /** Sorts by creation. */
  readonly destinationId: string
  readonly enabled: boolean
  readonly rules?: ConnectionRules
  /** RFC 3339 in UTC with milliseconds. */
  readonly createdAt: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly updatedAt: string
}

export type ConnectionRule = {
  readonly action: 'allow' | 'deny'
  readonly types?: readonly ('identify' | 'track' | 'page' | 'screen' | 'group' | 'alias' | 'merge')[]
  readonly events?: {
    /** In a pattern `*` stands for any text. */
    readonly match: 'exact' | 'prefix' | 'pattern'
    readonly names: readonly string[]
  }
  /** All of them must hold. */
  readonly conditions?: readonly RuleCondition[]
}

export type ConnectionRules = {
  /** For events that no rule matches. */
  readonly otherwise: 'allow' | 'deny'
  /** The first rule that matches an event decides. */
  readonly list: readonly ConnectionRule[]
}

export type ConnectionTest = {
  /** false: the type has nothing to test with. */
  readonly tested: boolean
  /** good: 2xx or 3xx; doubtful: reached, with another answer below 500; unknown: not tested. */
  readonly verdict: 'good' | 'doubtful' | 'bad' | 'unknown'
  /** true for `good` and `unknown`. */
  readonly ok: boolean
  readonly text: string
  readonly durationMs: number
}

export type ConnectionTestWritten = {
  readonly type: string
  readonly config: JsonObject
  readonly destinationId?: string
}

export type ConnectionWritten = {
  /** Cannot be changed. */
  readonly sourceId: string
  /** Cannot be changed. */
  readonly destinationId: string
  readonly enabled?: boolean
  /** Which events go; all where there are none. */
  readonly rules?: {
    /** For events that no rule matches. */
    readonly otherwise?: 'allow' | 'deny'
    /** The first rule that matches an event decides. */
    readonly list?: readonly {
      readonly action: 'allow' | 'deny'
      readonly types?: readonly ('identify' | 'track' | 'page' | 'screen' | 'group' | 'alias' | 'merge')[]
      readonly events?: {
        /** In a pattern `*` stands for any text. */
        readonly match?: 'exact' | 'prefix' | 'pattern'
        readonly names: readonly string[]
      }
      /** All of them must hold. */
      readonly conditions?: readonly RuleCondition[]
    }[]
  } | null
}

export type Consent = {
  /** Consent categories, as the events of clients name them. */
  readonly categories: readonly string[]
  /** How many of them must be granted. */
  readonly require: 'all' | 'any'
}

export type Credential = {
  readonly key: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly updatedAt: string
}

export type DeadLetter = {
  readonly id: string
  readonly state: DeadLetterState
  readonly stage: Stage
  readonly reason: string
  readonly messageId: string
  readonly eventType: EventType
  readonly eventName: string | null
  readonly userId: string | null
  /** Sorts by creation. */
  readonly sourceId: string
  /** Sorts by creation. */
  readonly destinationId: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly acceptedAt: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly deadAt: string
  readonly attempts: number
  readonly lastStatus: number | null
  readonly lastAnswer: string | null
  readonly transformationVersionIds: readonly string[]
}

export type DeadLetterGroup = {
  /** Sorts by creation. */
  readonly destinationId: string
  readonly stage: Stage
  readonly reason: string
  /** null: there was no answer. */
  readonly lastStatus: number | null
  readonly count: number
  /** RFC 3339 in UTC with milliseconds. */
  readonly oldestAt: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly newestAt: string
}

export type DeadLetterState = 'open' | 'replaying' | 'resolved' | 'discarded'

export type DeadLetterWithPayloads = {
  readonly id: string
  readonly state: DeadLetterState
  readonly stage: Stage
  readonly reason: string
  readonly messageId: string
  readonly eventType: EventType
  readonly eventName: string | null
  readonly userId: string | null
  /** Sorts by creation. */
  readonly sourceId: string
  /** Sorts by creation. */
  readonly destinationId: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly acceptedAt: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly deadAt: string
  readonly attempts: number
  readonly lastStatus: number | null
  readonly lastAnswer: string | null
  readonly transformationVersionIds: readonly string[]
  readonly event: StoredEvent
  readonly request: {
    readonly method: string
    readonly endpoint: string
    readonly headers: { readonly [name: string]: string }
    readonly rendered?: true
  } | null
  readonly answer: {
    readonly status: number
    readonly text: string | null
  } | null
  /** The first 5 and the last 15 attempts. */
  readonly history: readonly Attempt[]
}

export type DeadLettersDiscarded = {
  readonly ids?: readonly string[]
  /** Not empty; `{"state": "open"}` matches all. */
  readonly filter?: {
    readonly destinationId?: string
    readonly sourceId?: string
    readonly stage?: 'user_transformation' | 'dest_transformation' | 'delivery' | 'internal'
    readonly reason?: string
    readonly state?: 'open'
    readonly userId?: string
    readonly messageId?: string
    /** Dead-lettered at or after this time. */
    readonly from?: string
    /** Dead-lettered before this time. */
    readonly to?: string
  }
  /** Only count. */
  readonly dryRun?: boolean
}

export type DeadLettersReplayed = {
  readonly ids?: readonly string[]
  /** Not empty; `{"state": "open"}` matches all. */
  readonly filter?: {
    readonly destinationId?: string
    readonly sourceId?: string
    readonly stage?: 'user_transformation' | 'dest_transformation' | 'delivery' | 'internal'
    readonly reason?: string
    readonly state?: 'open'
    readonly userId?: string
    readonly messageId?: string
    /** Dead-lettered at or after this time. */
    readonly from?: string
    /** Dead-lettered before this time. */
    readonly to?: string
  }
  /** Only count. */
  readonly dryRun?: boolean
  /** Shared by the destinations. */
  readonly rateEventsPerSecond?: number
}

export type DeliverySettings = {
  /** Maximum concurrent requests. */
  readonly concurrency: number
  /** Whether events of one user keep their order. */
  readonly ordering: 'strict' | 'none'
  readonly throttle: null | {
    /** Maximum attempts in a window; each event of a batch counts. */
    readonly limit: number
    readonly windowSeconds: number
  }
  readonly onTransformationError: 'dead_letter' | 'pass_through'
  /** Attempts whose answers are stored in traces. */
  readonly keepAnswers?: 'failed' | 'all'
}

export type DeliveryState = {
  /** Sorts by creation. */
  readonly destinationId: string
  /** resting: the breaker is open. */
  readonly state: 'ok' | 'resting' | 'unauthorised'
  readonly statusText: string | null
  /** Events that no lane has taken yet, before filters. */
  readonly pending: number
  readonly retrying: number
  /** Events of `pending` that wait for the rate limit. */
  readonly throttled: number
  readonly blockedEvents: number
  readonly blockedUsers: number
  /** The user with the most waiting events. */
  readonly hotId: {
    readonly id: string
    readonly waiting: number
  } | null
  readonly concurrency: number
  /** Why events wait, if there is one reason for all. */
  readonly waiting: Waiting | null
  readonly oldestPendingAt: string | null
  readonly delivered24h: number
  readonly deadLettersOpen: number
  readonly expired: number
  readonly backlogBytes: number
  readonly latencyMs: {
    readonly p50: number | null
    readonly p95: number | null
    readonly p99: number | null
  }
}

export type DeliveryThread = {
  readonly number: number
  /** Partitions of the log that it delivers. */
  readonly partitions: readonly number[]
  /** Share of the last 10 s or more. */
  readonly busyPercent: number
  /** Processor time since the start. */
  readonly cpuSeconds: number
}

export type Destination = {
  /** Sorts by creation. */
  readonly id: string
  /** Key in configuration as code. */
  readonly key: string
  readonly name: string
  readonly type: string
  readonly enabled: boolean
  /** Validated by the configSchema of the type. Secrets are shown as `********`; sending the mask keeps the saved value. */
  readonly config: JsonObject
  /** Attached transformations in the order in which they run. */
  readonly transformationIds: readonly string[]
  readonly delivery: DeliverySettings
  readonly consent?: Consent
  /** Sorts by creation. */
  readonly workspaceId: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly createdAt: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly updatedAt: string
}

export type DestinationDefinition = {
  readonly id: string
  /** Such as `WEBHOOK`. */
  readonly name: string
  readonly displayName: string
  readonly category: string
  readonly kind: 'cloud' | 'stream' | 'object-storage' | 'key-value' | 'spreadsheet' | 'warehouse-stream'
  /** Names allowed in `destinationConfig`. */
  readonly defaultConfig: readonly string[]
  readonly config: {
    readonly destConfig: {
      readonly defaultConfig: readonly string[]
    }
    /** Paths of variables that hold secrets. */
    readonly secretKeys: readonly string[]
    readonly supportedMessageTypes: { readonly [name: string]: readonly string[] }
    readonly supportedConnectionModes: { readonly [name: string]: readonly string[] }
    readonly supportedSourceTypes: readonly string[]
    readonly extraConfig: readonly string[]
    readonly commonConfig: readonly string[]
    /** Paths of variables that decide the host of requests. */
    readonly hostKeys: readonly string[]
    /** Variables that list further hosts that may receive secrets. */
    readonly trustedHostKeys: readonly string[]
    /** Variables that a client library may see. */
    readonly publicKeys: readonly string[]
  }
  /** JSON Schema draft-07 of a config. */
  readonly configSchema: JsonObject
  readonly uiConfig: {
    readonly help?: string
    readonly fields?: readonly UiField[]
    readonly authorization?: {
      /** The variable that keeps the refresh token. */
      readonly variable: string
      /** Values of variables that use the token. */
      readonly where?: JsonObject
    }
    /** Heading above texts that are not ours. */
    readonly heading?: string
    /** Of a type of the destination catalog, only where one type is asked for: what mappings can do. */
    readonly actions?: { readonly [name: string]: MappingAction }
    readonly presets?: readonly MappingPreset[]
  }
  readonly options: JsonObject
  /** RFC 3339 in UTC with milliseconds. */
  readonly createdAt: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly updatedAt: string
}

export type DestinationDefinitionHead = {
  readonly id: string
  /** Such as `WEBHOOK`. */
  readonly name: string
  readonly displayName: string
  readonly category: string
  readonly kind: 'cloud' | 'stream' | 'object-storage' | 'key-value' | 'spreadsheet' | 'warehouse-stream'
  /** Names allowed in `destinationConfig`. */
  readonly defaultConfig: readonly string[]
  readonly config: {
    readonly destConfig: {
      readonly defaultConfig: readonly string[]
    }
    /** Paths of variables that hold secrets. */
    readonly secretKeys: readonly string[]
    readonly supportedMessageTypes: { readonly [name: string]: readonly string[] }
    readonly supportedConnectionModes: { readonly [name: string]: readonly string[] }
    readonly supportedSourceTypes: readonly string[]
  }
}

export type DestinationResult =
  | {
      /** Sorts by creation. */
      readonly destinationId: string
      readonly destination: string
      readonly destinationName: string
      readonly data: readonly StageResult[]
      readonly extras?: TestExtras
    }
  | {
      /** Sorts by creation. */
      readonly destinationId: string
      readonly destinationName: string
      readonly error: string
    }

export type DestinationWritten = {
  readonly name: string
  /** Name of a destination type, such as WEBHOOK. Cannot be changed. */
  readonly type: string
  readonly enabled?: boolean
  /** Validated by the configSchema of the type. Secrets are shown as `********`; sending the mask keeps the saved value. */
  readonly config?: JsonObject
  /** Attached transformations in the order in which they run. */
  readonly transformationIds?: readonly string[]
  readonly delivery?: {
    /** Maximum concurrent requests. */
    readonly concurrency?: number
    /** Whether events of one user keep their order. */
    readonly ordering?: 'strict' | 'none'
    readonly throttle?: null | {
      /** Maximum attempts in a window; each event of a batch counts. */
      readonly limit: number
      readonly windowSeconds: number
    }
    readonly onTransformationError?: 'dead_letter' | 'pass_through'
    /** Attempts whose answers are stored in traces. */
    readonly keepAnswers?: 'failed' | 'all'
  }
  /** The consent that an event must have to be sent. */
  readonly consent?: {
    /** Consent categories, as the events of clients name them. */
    readonly categories: readonly string[]
    /** How many of them must be granted. */
    readonly require?: 'all' | 'any'
  } | null
}

export type DiffLine = {
  /** JSON pointer. */
  readonly path: string
  /** null if there was no value. */
  readonly from: JsonValue
  /** null if there is no value. */
  readonly to: JsonValue
  readonly secretChanged?: true
}

export type DocumentFault = {
  readonly path: string
  readonly message: string
}

export type Error = {
  /** The error as text. */
  readonly error: string
  /** The error code. */
  readonly code:
    | 'bad_request'
    | 'unauthorized'
    | 'forbidden'
    | 'not_found'
    | 'method_not_allowed'
    | 'conflict'
    | 'precondition_failed'
    | 'too_large'
    | 'unsupported_encoding'
    | 'invalid_config'
    | 'rate_limited'
    | 'unavailable'
    | 'insufficient_storage'
  readonly details: JsonObject | null
}

/** userId or anonymousId is required. Other members are stored unchanged. */
export type Event = {
  readonly userId?: string | number
  readonly anonymousId?: string | number
  /** Generated if omitted. */
  readonly messageId?: string
  /** Name of a track event. */
  readonly event?: string
  /** Name of a page or screen. */
  readonly name?: string
  readonly properties?: JsonObject
  readonly traits?: JsonObject
  readonly context?: JsonObject
  readonly integrations?: JsonObject
  readonly originalTimestamp?: string
  readonly sentAt?: string
  /** If there is no Authorization header. */
  readonly writeKey?: string
}

export type EventMetadata = {
  readonly SampledEvents: readonly JsonObject[]
  readonly TotalCount: number
  readonly FrequentValues: {
    readonly [name: string]: readonly {
      readonly Value: string
      readonly Frequency: number
    }[]
  }
}

export type EventModel = {
  readonly ID: number
  readonly EventID: string
  readonly WriteKey: string
  readonly EventType: EventType
  readonly EventIdentifier: string
  /** RFC 3339 in UTC with microseconds. */
  readonly CreatedAt: string
  readonly Schema: KeyTypes
  /** RFC 3339 in UTC with microseconds. */
  readonly LastSeen: string
  readonly TotalCount: number
}

export type EventModelWithExtras = {
  readonly ID: number
  readonly EventID: string
  readonly WriteKey: string
  readonly EventType: EventType
  readonly EventIdentifier: string
  /** RFC 3339 in UTC with microseconds. */
  readonly CreatedAt: string
  readonly Schema: KeyTypes
  /** RFC 3339 in UTC with microseconds. */
  readonly LastSeen: string
  readonly TotalCount: number
  readonly VersionCount: number
  readonly UnversionedCount: number
  readonly CutKeys: number
}

export type EventTrace = {
  readonly messageId: string
  /** Sorts by creation. */
  readonly sourceId: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly acceptedAt: string
  /** Position in the log. */
  readonly position: string
  readonly event: StoredEvent
  readonly destinations: readonly Journey[]
}

export type EventType = 'identify' | 'track' | 'page' | 'screen' | 'group' | 'alias' | 'merge'

export type EventVersion = {
  readonly ID: number
  readonly VersionID: string
  readonly EventModelID: string
  readonly Schema: KeyTypes
  /** RFC 3339 in UTC with microseconds. */
  readonly FirstSeen: string
  /** RFC 3339 in UTC with microseconds. */
  readonly LastSeen: string
  readonly TotalCount: number
}

export type FieldOptions = {
  readonly choices: readonly {
    readonly label: string
    readonly value: string
  }[]
  readonly nextPage: string | null
  /** Why the service listed none. */
  readonly error: string | null
}

export type FieldOptionsWanted = {
  readonly type: string
  readonly config: JsonObject
  readonly destinationId?: string
  readonly action: string
  readonly field: string
  /** Values of the mapping that choices depend on. */
  readonly values?: JsonObject
  /** `nextPage` of an earlier answer. */
  readonly page?: string
}

export type Health = {
  readonly appType: string
  readonly server: 'UP' | 'DOWN'
  readonly db: 'UP' | 'DOWN'
  readonly acceptingEvents: 'TRUE' | 'FALSE'
  readonly routingEvents: 'TRUE' | 'FALSE'
  readonly mode: string
  readonly backendConfigMode: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly lastSync: string
  readonly checks: {
    /** `ok`, or the problem. */
    readonly log: string
    /** `ok`, or the problem. */
    readonly disk: string
    /** `ok`, or the problem. */
    readonly config: string
    /** `ok`, or the problem. */
    readonly catalog: string
    /** `ok`, or the problem. */
    readonly delivery: string
    /** `ok`, or the problem. */
    readonly backlog: string
    /** `ok`, or the problem. */
    readonly readers: string
    /** `ok`, or the problem. */
    readonly damage: string
  }
}

export type Info = {
  readonly version: string
  readonly uptimeSeconds: number
  /** Revision of the configuration. */
  readonly revision: number
  readonly logBytes: number
  /** null if the log is empty. */
  readonly logOldestAt: string | null
  readonly lastBackup: Backup | null
  /** Only in a cluster: Postgres backups taken at this time or later restore everything; null: backups of any age. */
  readonly postgresBackupsFrom?: string | null
  /** Only in a cluster: the processes that live. */
  readonly processes?: readonly Process[]
  /** Sign-ins answered 429 in the last 24 hours, since the server started. */
  readonly refusedSignIns: {
    readonly count: number
    /** Number of client addresses; IPv6 addresses by their first 64 bits. */
    readonly addresses: number
    readonly lastAt: string | null
  }
  /** The threads that deliver events. */
  readonly deliveryThreads: readonly DeliveryThread[]
  /** Current values by variable; secrets masked. */
  readonly settings: { readonly [name: string]: string | number | boolean | null }
}

export type IngestRefusal = {
  readonly success: false
  readonly error: string
}

export type Journey = {
  /** Sorts by creation. */
  readonly destinationId: string
  readonly outcome: Outcome
  readonly reason: string | null
  readonly replayId: string | null
  readonly transformationVersionIds: readonly string[]
  readonly configRevision: number | null
  readonly requests: readonly TracedRequest[]
  /** If it is retrying. */
  readonly nextAttemptAt?: string
  /** If it is blocked: messageId of the earlier event of the same user. */
  readonly blockedBy?: string
  readonly waiting?: Waiting
  readonly rendered?: Rendered
}

/** Type by dotted key path: string, float64, bool; a model may have several, joined by commas. */
export type KeyTypes = { readonly [name: string]: string }

export type Library = {
  /** Sorts by creation. */
  readonly id: string
  /** Version of the shown code: the last saved one. */
  readonly versionId: string
  /** The published version; null: none. */
  readonly publishedVersionId: string | null
  readonly name: string
  readonly description: string
  readonly language: CodeLanguage
  readonly code: string
  /** Import names of the libraries that the code imports. */
  readonly imports: readonly string[]
  /** The name in camel case, for imports. */
  readonly importName: string
  /** Ids of the transformations that use it. */
  readonly usedBy: readonly string[]
  /** Sorts by creation. */
  readonly workspaceId: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly createdAt: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly updatedAt: string
}

/** Other members are read by some versions of a library. */
export type LibrarySettings = {
  readonly integrations: {
    readonly 'Segment.io': {
      /** The write key. */
      readonly apiKey: string
      /** Host, port and path of this server: `events.cinema.example/v1`. */
      readonly apiHost: string
      readonly protocol: 'http' | 'https'
    }
  }
  readonly plan: JsonObject
}

export type LibraryWritten = {
  readonly name: string
  readonly description?: string
  readonly language?: 'javascript' | 'typescript'
  /** At most 256 KB in UTF-8. */
  readonly code: string
}

export type ListedEvent = {
  readonly messageId: string
  /** Sorts by creation. */
  readonly sourceId: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly acceptedAt: string
  readonly type: EventType
  readonly name: string | null
  readonly userId: string | null
  readonly anonymousId: string | null
  readonly outcomes: readonly {
    /** Sorts by creation. */
    readonly destinationId: string
    readonly outcome: Outcome
    readonly reason: string | null
    readonly waiting?: Waiting
  }[]
}

export type MappingAction = {
  readonly title: string
  readonly description: string
  /** Trigger of a mapping without one. */
  readonly trigger: null | string
  readonly fields: { readonly [name: string]: JsonObject }
  readonly syncModes?: readonly string[]
  readonly defaultSyncMode?: string
  /** Maximum events of one run. */
  readonly maxBatch?: number
}

export type MappingPreset = {
  readonly name: string
  readonly action: string
  readonly trigger: string
}

export type Message = {
  readonly message: string
}

export type ModelJsonSchema = {
  readonly schema: JsonObject
  readonly schemaType: string
  readonly schemaIdentifier: string
}

export type NewSession = {
  /** Shown only once. */
  readonly half: string
  readonly user: User
  readonly token: {
    /** Sorts by creation. */
    readonly id: string
    readonly name: string
    readonly role: Role
  }
  /** End of the session; without use it ends after 12 hours. */
  readonly expiresAt: string
}

export type Outcome =
  | 'pending'
  | 'blocked'
  | 'throttled'
  | 'retrying'
  | 'delivered'
  | 'filtered'
  | 'dropped_by_transformation'
  | 'duplicate'
  | 'dead_lettered'
  | 'discarded'
  | 'expired'

export type Paging = {
  /** null if it is not counted. */
  readonly total: number | null
  /** Path of the next page; empty on the last. */
  readonly next: string
}

export type PlannedChange = {
  readonly action: 'create' | 'update' | 'delete'
  readonly kind: 'source' | 'library' | 'transformation' | 'destination' | 'connection'
  /** For a connection the keys of both ends: `cinema-app/booking-hook`. */
  readonly key: string
  readonly diff: readonly DiffLine[]
}

export type Process = {
  /** Host and port, by which people find it. */
  readonly address: string
  readonly roles: readonly string[]
  readonly version: string
  /** Shards that it owns now. */
  readonly shards: number
}

export type Refusal = {
  /** RFC 3339 in UTC with milliseconds. */
  readonly at: string
  readonly route: string
  /** Status of the reason; a pixel itself is answered with 200. */
  readonly status: number
  readonly text: string
  /** null: the key was missing or unknown. */
  readonly sourceId: string | null
  /** The first 4 characters of the write key. */
  readonly keyStart: string
  readonly address: string
  readonly userAgent: string
  /** Size of the body, from the header or as received. */
  readonly bytes: number
}

/** For the destination in `render`: recreated from the stored event, without sending. */
export type Rendered = {
  /** today: the configuration has changed since the event. */
  readonly versions: 'recorded' | 'today'
  readonly steps: readonly {
    /** Sorts by creation. */
    readonly transformationId: string
    /** Sorts by creation. */
    readonly versionId: string
    /** Empty if the step dropped the event or failed. */
    readonly output: readonly StoredEvent[]
    readonly error: string | null
  }[]
  readonly requests: readonly RequestObject[]
}

export type Replay = {
  /** Sorts by creation. */
  readonly id: string
  /** Origin of its events. */
  readonly origin: 'log' | 'dead_letters'
  /** Action on them. */
  readonly kind: 'replay' | 'discard'
  /** Counts only. */
  readonly dryRun: boolean
  readonly state: ReplayState
  /** null until counted. */
  readonly matched: number | null
  readonly taken: number
  readonly delivered: number
  readonly filtered: number
  /** Events that failed; replayed dead letters are open again. */
  readonly deadLettered: number
  readonly discarded: number
  /** Whether the log has lost a part of the range to damage. Its events are neither counted nor replayed. */
  readonly damaged: boolean
  readonly sourceIds: readonly string[]
  readonly destinationIds: readonly string[]
  readonly from: string | null
  readonly to: string | null
  /** Shared by its destinations. */
  readonly rateEventsPerSecond: number
  readonly createdBy: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly createdAt: string
  readonly finishedAt: string | null
}

export type ReplayState = 'queued' | 'running' | 'paused' | 'done' | 'cancelled' | 'failed'

export type ReplayWritten = {
  readonly sourceIds: readonly string[]
  /** Each must be connected to each source. */
  readonly destinationIds: readonly string[]
  /** Accepted at or after this time. */
  readonly from: string
  /** Accepted before this time; events accepted after the call are excluded. */
  readonly to: string
  /** An empty list matches all. */
  readonly filter?: {
    readonly types?: readonly ('identify' | 'track' | 'page' | 'screen' | 'group' | 'alias' | 'merge')[]
    /** Event names as in lists of events. */
    readonly events?: readonly string[]
    readonly userIds?: readonly string[]
    readonly messageIds?: readonly string[]
    /** Outcome of the event at the destination. */
    readonly outcomes?: readonly (
      | 'delivered'
      | 'filtered'
      | 'dropped_by_transformation'
      | 'duplicate'
      | 'dead_lettered'
      | 'discarded'
      | 'expired'
    )[]
  }
  /** Shared by the destinations. */
  readonly rateEventsPerSecond?: number
  /** Only count. */
  readonly dryRun?: boolean
}

export type RequestObject = {
  readonly version: string
  readonly type: string
  readonly method: string
  readonly endpoint: string
  readonly headers: JsonObject
  readonly params: JsonObject
  readonly body: {
    readonly JSON: JsonObject
    readonly JSON_ARRAY: JsonObject
    readonly XML: JsonObject
    readonly FORM: JsonObject
  }
  readonly files: JsonObject
}

export type Role = 'viewer' | 'editor' | 'admin'

export type RuleCondition = {
  /** Names joined by dots, such as `properties.value` or `properties.items.0.sku`. */
  readonly path: string
  readonly operator:
    | 'equals'
    | 'not_equals'
    | 'in'
    | 'not_in'
    | 'greater'
    | 'at_least'
    | 'less'
    | 'at_most'
    | 'contains'
    | 'not_contains'
    | 'matches'
    | 'not_matches'
    | 'exists'
    | 'not_exists'
  /** A list for `in` and `not_in`; a number for `greater`, `at_least`, `less` and `at_most`; a pattern for `matches` and `not_matches`; left out for `exists` and `not_exists`. */
  readonly value?: string | number | boolean | readonly (string | number | boolean)[]
}

export type RuleCount = {
  /** RFC 3339 in UTC with milliseconds. */
  readonly from: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly to: string
  /** False if only events from `countedFrom` on were looked at. */
  readonly complete: boolean
  /** RFC 3339 in UTC with milliseconds. */
  readonly countedFrom: string
  readonly events: number
  /** Events that the rules let through. */
  readonly sent: number
  /** Events that each rule decides. */
  readonly matches: readonly number[]
  /** Events that no rule matches. */
  readonly otherwise: number
}

export type SchemaRefusal = {
  readonly msg: string
}

/** A value for each step; null: not known, as while the server did not run. */
export type Series = readonly (number | null)[]

export type Session = {
  readonly user: User
  readonly token: {
    /** Sorts by creation. */
    readonly id: string
    readonly name: string
    readonly role: Role
  }
  /** End of the session; without use it ends after 12 hours. */
  readonly expiresAt: string
}

export type Source = {
  /** Sorts by creation. */
  readonly id: string
  /** Key in configuration as code. */
  readonly key: string
  readonly name: string
  readonly type: SourceType
  /** Key for client libraries; unique. Generated if omitted. */
  readonly writeKey: string
  readonly enabled: boolean
  readonly config: SourceConfig
  /** Sorts by creation. */
  readonly workspaceId: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly createdAt: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly updatedAt: string
}

export type SourceConfig = {
  /** 0 means no limit. */
  readonly rateLimitEventsPerMinute: number
  /** Time in which a repeated messageId of this source is a duplicate. 0: never. */
  readonly dedupWindowSeconds: number
  /** Number of log partitions that its users are spread over. 1 keeps order per userId and per anonymousId; above 1 order holds per anonymousId, else userId. */
  readonly orderShards: number
  readonly catalog: {
    /** How the catalog stores samples. */
    readonly samples: 'full' | 'masked' | 'off'
    /** Whether the catalog counts values. */
    readonly values: 'on' | 'off'
  }
  /** Whether events without consent go to destinations that require it. */
  readonly withoutConsent?: 'send' | 'hold_back'
  readonly webhook?: WebhookConfig
}

export type SourceConfiguration = {
  readonly isHosted: boolean
  readonly source: {
    /** Sorts by creation. */
    readonly id: string
    readonly name: string
    readonly writeKey: string
    readonly enabled: boolean
    /** Sorts by creation. */
    readonly workspaceId: string
    /** RFC 3339 in UTC with milliseconds. */
    readonly updatedAt: string
    readonly config: {
      readonly statsCollection: {
        readonly errors: {
          readonly enabled: boolean
        }
        readonly metrics: {
          readonly enabled: boolean
        }
      }
    }
    readonly dataplanes?: {
      readonly US: readonly {
        readonly url: string
        readonly default: boolean
      }[]
    }
    readonly sourceDefinition: {
      readonly name: string
      readonly displayName: string
    }
    readonly connections: readonly {
      /** Sorts by creation. */
      readonly id: string
      /** Sorts by creation. */
      readonly sourceId: string
      /** Sorts by creation. */
      readonly destinationId: string
      readonly enabled: boolean
    }[]
    readonly destinations: readonly {
      /** Sorts by creation. */
      readonly id: string
      readonly name: string
      readonly enabled: boolean
      /** RFC 3339 in UTC with milliseconds. */
      readonly updatedAt: string
      /** Only the public variables of the type. */
      readonly config: JsonObject
      readonly destinationDefinition: {
        readonly name: string
        readonly displayName: string
        /** RFC 3339 in UTC with milliseconds. */
        readonly updatedAt: string
      }
      readonly shouldApplyDeviceModeTransformation: boolean
      readonly propagateEventsUntransformedOnError: boolean
    }[]
  }
}

export type SourceType =
  | 'Cordova'
  | 'Javascript'
  | 'Android'
  | 'iOS'
  | 'ReactNative'
  | 'Flutter'
  | 'Node'
  | 'Python'
  | 'Go'
  | 'Java'
  | 'Ruby'
  | 'PHP'
  | 'DotNet'
  | 'Kotlin'
  | 'Swift'
  | 'Rust'
  | 'Unity'
  | 'AMP'
  | 'Shopify'
  | 'HTTP'
  | 'Pixel'
  | 'Webhook'

export type SourceWritten = {
  readonly name: string
  /** Cannot be changed. */
  readonly type:
    | 'Cordova'
    | 'Javascript'
    | 'Android'
    | 'iOS'
    | 'ReactNative'
    | 'Flutter'
    | 'Node'
    | 'Python'
    | 'Go'
    | 'Java'
    | 'Ruby'
    | 'PHP'
    | 'DotNet'
    | 'Kotlin'
    | 'Swift'
    | 'Rust'
    | 'Unity'
    | 'AMP'
    | 'Shopify'
    | 'HTTP'
    | 'Pixel'
    | 'Webhook'
  readonly enabled?: boolean
  /** Key for client libraries; unique. Generated if omitted. */
  readonly writeKey?: string
  readonly config?: {
    /** 0 means no limit. */
    readonly rateLimitEventsPerMinute?: number
    /** Time in which a repeated messageId of this source is a duplicate. 0: never. */
    readonly dedupWindowSeconds?: number
    /** Number of log partitions that its users are spread over. 1 keeps order per userId and per anonymousId; above 1 order holds per anonymousId, else userId. */
    readonly orderShards?: number
    readonly catalog?: {
      /** How the catalog stores samples. */
      readonly samples?: 'full' | 'masked' | 'off'
      /** Whether the catalog counts values. */
      readonly values?: 'on' | 'off'
    }
    /** Whether events without consent go to destinations that require it. */
    readonly withoutConsent?: 'send' | 'hold_back'
    /** Only for sources of type Webhook or Shopify. */
    readonly webhook?: {
      /** Name of the event, such as `type`; else `Webhook Received`. */
      readonly eventPath?: string
      /** userId, such as `data.object.customer`. */
      readonly userIdPath?: string
      /** anonymousId; generated if there is neither. */
      readonly anonymousIdPath?: string
      /** messageId; repeated webhooks are dropped within dedupWindowSeconds. */
      readonly messageIdPath?: string
      /** The service whose signature every request must have. */
      readonly signature?: 'none' | 'github' | 'stripe' | 'shopify'
      /** Key of the credential with the signing secret. */
      readonly secretCredential?: string
    }
  } | null
}

export type Stage = 'user_transformation' | 'dest_transformation' | 'delivery' | 'internal'

export type StageError = {
  readonly error: string
}

export type StageResult = {
  /** The event, or `{"error": text}`. */
  readonly user_transformed_payload?: JsonObject
  readonly dest_transformed_payload?: readonly RequestObject[] | StageError
  /** JSON objects as they are, other bodies as `{"body": value}`. */
  readonly destination_response?: readonly JsonObject[] | StageError
  readonly destination_response_status?: readonly number[]
}

export type StartedBackup = {
  readonly file: string
  readonly state: 'running'
}

export type StartedReplay = {
  /** Sorts by creation. */
  readonly replayId: string
}

export type Stats = {
  /** RFC 3339 in UTC with milliseconds. */
  readonly from: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly to: string
  readonly stepSeconds: number
  readonly sources: readonly {
    /** Sorts by creation. */
    readonly id: string
    readonly accepted: Series
    readonly refused: Series
    readonly lastEventAt: string | null
  }[]
  readonly transformations: readonly {
    /** Sorts by creation. */
    readonly id: string
    readonly in: Series
    readonly out: Series
    readonly errors: Series
    readonly p95Ms: Series
  }[]
  readonly destinations: readonly {
    /** Sorts by creation. */
    readonly id: string
    readonly delivered: Series
    readonly filtered: Series
    readonly dropped: Series
    readonly deadLettered: Series
    readonly retries: Series
    readonly waiting: Series
    readonly p50Ms: Series
    readonly p95Ms: Series
    readonly p99Ms: Series
  }[]
  readonly reasons?: readonly {
    /** Sorts by creation. */
    readonly destinationId: string
    readonly outcome: string
    readonly reason: string
    readonly count: number
  }[]
}

export type StoredEvent = JsonObject

export type TailAccepted = {
  readonly messageId: string
  /** Sorts by creation. */
  readonly sourceId: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly acceptedAt: string
  readonly type: EventType
  readonly name: string | null
  readonly userId: string | null
  readonly anonymousId: string | null
}

export type TailOutcome = {
  readonly messageId: string
  /** Sorts by creation. */
  readonly destinationId: string
  readonly outcome: Outcome
  readonly reason: string | null
  /** Status of the answer. */
  readonly status: number | null
  readonly durationMs: number | null
}

export type TailSkipped = {
  /** Messages that are not shown. */
  readonly count: number
}

export type TestExtras = {
  readonly transformationVersionIds?: readonly string[]
  readonly configHash?: string
  readonly serverVersion?: string
  readonly steps?: readonly {
    readonly transformationId: string
    readonly versionId: string
    readonly output?: readonly JsonObject[]
    readonly error?: string
  }[]
  readonly userTransformedEvents?: readonly JsonObject[]
  readonly logs?: readonly string[]
  readonly timings?: {
    readonly userTransformMs?: number
    readonly destTransformMs?: number
    readonly requests: readonly {
      readonly ms: number
    }[]
  }
  readonly filter?: {
    readonly skipped: boolean
    readonly reason: string | null
    /** Connections whose rules, or the consent of the destination, leave the message out. */
    readonly leftOutBy?: readonly {
      /** Sorts by creation. */
      readonly connectionId: string
      /** Sorts by creation. */
      readonly sourceId: string
      readonly reason: string
      readonly rule?: {
        readonly number: number
        readonly text: string
      }
    }[]
  }
  readonly batch?: {
    readonly maxEvents: number
  } | null
  readonly warnings?: readonly string[]
}

export type TracedRequest = {
  readonly method?: string
  readonly endpoint?: string
  /** The request was not stored; it is recreated from the event. */
  readonly rendered?: true
  readonly attempts: readonly Attempt[]
}

export type Transformation = {
  /** Sorts by creation. */
  readonly id: string
  /** Version of the shown code: the last saved one. */
  readonly versionId: string
  /** The published version; null: none. */
  readonly publishedVersionId: string | null
  readonly name: string
  readonly description: string
  readonly language: CodeLanguage
  readonly code: string
  /** Import names of the libraries that the code imports. */
  readonly imports: readonly string[]
  /** Ids of the destinations that it is attached to. */
  readonly destinations: readonly string[]
  readonly captureLogs: boolean
  /** Sorts by creation. */
  readonly workspaceId: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly createdAt: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly updatedAt: string
}

export type TransformationLog = {
  /** RFC 3339 in UTC with milliseconds. */
  readonly at: string
  /** Sorts by creation. */
  readonly destinationId: string
  readonly messageId: string | null
  readonly line: string
}

export type TransformationRun = {
  readonly transformedEvents: readonly TransformedEvent[]
  readonly logs: readonly string[]
}

export type TransformationRunWritten = {
  readonly language?: 'javascript' | 'typescript'
  readonly code?: string
  /** Default: the newest version. */
  readonly versionId?: string
  /** Used instead of the published versions of these libraries. */
  readonly libraryVersionIDs?: readonly string[]
  readonly transformationId?: string
  readonly events: readonly JsonObject[]
  /** Further members of metadata(event), such as sourceName. */
  readonly metadata?: JsonObject
}

export type TransformationTemplate = {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly language: 'javascript' | 'typescript'
  readonly code: string
}

export type TransformationTest = {
  /** Unique among the tests. */
  readonly id: string
  readonly name: string
  readonly input: readonly JsonObject[]
  /** All resulting events, in order. */
  readonly expectedOutput: readonly JsonObject[]
}

export type TransformationTestsRun = {
  readonly pass: boolean
  readonly results: readonly {
    readonly id: string
    readonly name: string
    readonly status: 'pass' | 'fail' | 'error'
    readonly actualOutput: readonly JsonObject[]
    readonly errors: readonly string[]
  }[]
}

export type TransformationWritten = {
  readonly name: string
  readonly description?: string
  readonly language?: 'javascript' | 'typescript'
  /** At most 256 KB in UTF-8. */
  readonly code: string
  /** Whether to keep the last 1,000 lines logged by live runs. */
  readonly captureLogs?: boolean
}

export type TransformedEvent =
  | {
      /** Index of the input event. */
      readonly input: number
      readonly event: JsonObject
    }
  | {
      /** Index of the input event. */
      readonly input: number
      readonly dropped: true
    }
  | {
      /** Index of the input event. */
      readonly input: number
      readonly error: string
    }

export type UiField = {
  readonly key: string
  readonly label: string
  readonly help?: string
  readonly format?: string
  readonly choices?: readonly {
    readonly label: string
    readonly value: JsonValue
  }[]
}

export type User = {
  /** Sorts by creation. */
  readonly id: string
  readonly email: string
  readonly role: Role
  /** RFC 3339 in UTC with milliseconds. */
  readonly createdAt: string
  /** RFC 3339 in UTC with milliseconds. */
  readonly updatedAt: string
}

export type UserWritten = {
  readonly email: string
  readonly role: Role
}

export type Version = {
  readonly Version: string
  readonly Revision: string
  readonly BuildDate: string
  readonly Features: readonly string[]
}

export type Waiting = {
  readonly cause:
    | 'sending'
    | 'destination_off'
    | 'connection_off'
    | 'credentials_refused'
    | 'destination_failing'
    | 'retry'
    | 'order'
    | 'rate_limit'
    | 'turn'
  /** Status of the last answer; null without one. */
  readonly status: number | null
  /** The reason if there was no answer. */
  readonly noAnswer: string | null
  readonly since: string | null
  readonly nextAttemptAt: string | null
  /** messageId of an earlier event of the user. */
  readonly blockedBy: string | null
  /** The reason as a sentence, with times in UTC. */
  readonly sentence: string
}

/** Only for sources of type Webhook or Shopify. */
export type WebhookConfig = {
  /** Name of the event, such as `type`; else `Webhook Received`. */
  readonly eventPath: string
  /** userId, such as `data.object.customer`. */
  readonly userIdPath: string
  /** anonymousId; generated if there is neither. */
  readonly anonymousIdPath: string
  /** messageId; repeated webhooks are dropped within dedupWindowSeconds. */
  readonly messageIdPath: string
  /** The service whose signature every request must have. */
  readonly signature: 'none' | 'github' | 'stripe' | 'shopify'
  /** Key of the credential with the signing secret. */
  readonly secretCredential: string
}
