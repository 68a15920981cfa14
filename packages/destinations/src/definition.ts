import type {
  Authorization,
  BatchOutcome,
  ClientCertificate,
  JsonObject,
  Judgement,
  StoredEvent,
  TokenGrant,
} from '@millrace/protocol'
import type { ConfigFault } from './config/config-fault.ts'
import type { RemoteCode } from './remote-code.ts'
import type { RequestObject } from './requests/request-object.ts'

/** How a destination is delivered to (contracts/destinations.md §6). Only `cloud` ones are built so far. */
export type DestinationKind = 'cloud' | 'stream' | 'object-storage' | 'key-value' | 'spreadsheet' | 'warehouse-stream'

/** Describes a destination type, as data that API, dashboard and SDKs read. */
export interface DestinationDefinition {
  /** Fixed for ever per type. */
  readonly id: string
  /** Upper case, `[A-Z0-9_]+`. */
  readonly name: string
  /** The key by which an event's `integrations` names destinations of this type. */
  readonly displayName: string
  readonly category: string
  readonly kind: DestinationKind
  /** Names of the configuration variables. */
  readonly defaultConfig: readonly string[]
  readonly config: {
    /** `defaultConfig` is the same list as the one above. */
    readonly destConfig: { readonly defaultConfig: readonly string[] }
    readonly extraConfig: readonly string[]
    readonly commonConfig: readonly string[]
    /** Paths of variables that hold secrets; one that ends in `.to` goes through a list of headers (secrets.ts). */
    readonly secretKeys: readonly string[]
    /** Paths of variables that decide the host of requests. */
    readonly hostKeys: readonly string[]
    /** Variables that list further hosts. A request whose address comes from the event may take the secrets to them. */
    readonly trustedHostKeys?: readonly string[]
    /** Variables that a client may see in /sourceConfig. */
    readonly publicKeys: readonly string[]
    readonly supportedMessageTypes: Readonly<Record<string, readonly string[]>>
    readonly supportedConnectionModes: Readonly<Record<string, readonly string[]>>
    readonly supportedSourceTypes: readonly string[]
  }
  /** JSON Schema draft-07 of a destination's config. */
  readonly configSchema: JsonObject
  readonly uiConfig: JsonObject
  readonly options: JsonObject
  readonly createdAt: string
  readonly updatedAt: string
}

/** What a transformation may know beside the event. */
export interface EventMetadata {
  readonly sourceId: string
  readonly destinationId: string
  /** As the operator has named it. */
  readonly destinationName: string
  readonly messageId: string
}

export interface TransformContext {
  readonly config: JsonObject
  readonly metadata: EventMetadata
  /** The value of a Basic header; masked wherever it is shown. */
  basicAuth(userName: string, password: string): string
  /** The value of a Bearer header; masked wherever it is shown. */
  bearer(token: string): string
  /** Names a derived value as secret: it is masked wherever it is shown. */
  secret(value: string): string
}

/**
 * How the requests of several events travel as one. All functions are pure. Every request of such a configuration whose key is
 * set goes through `join`, alone or with others; an event with several requests always travels alone.
 *
 * @see contracts/destinations.md §7a
 */
export interface RequestBatches {
  /** Bounds of a batch; bytes are those of the bodies. Undefined: under this configuration each event travels alone. */
  limits(config: JsonObject): { readonly maxEvents: number; readonly maxBytes: number } | undefined
  /** Whether several events of one user may share a batch, in order: only where one answer covers all of them. */
  readonly takesManyOfOneUser: boolean
  /** Maximum requests like this one in a batch; left out: those of the limits. */
  maxEvents?(request: RequestObject): number
  /** Requests with the same key may travel together; undefined: this one travels alone. */
  key(request: RequestObject): string | undefined
  /**
   * @param bodies the JSON of each request's body, which `JSON` or `JSON_ARRAY` holds.
   * @throws Error whose message tells the customer why there is no request.
   */
  join(requests: readonly RequestObject[], bodies: readonly string[], config: JsonObject): RequestObject
  /** One outcome for each event, in their order; undefined, or left out: the answer says the same about all of them. */
  outcomes?(
    answer: { status: number; headers: Record<string, string>; body: unknown },
    requests: readonly RequestObject[],
  ): readonly BatchOutcome[] | undefined
}

/**
 * The code of one destination type. Live traffic and the Test API call the same functions, through shield.ts and
 * run-transform.ts alone: what it throws is the failure of the event at hand.
 *
 * @see contracts/destinations.md §7
 */
export interface DestinationModule {
  readonly definition: DestinationDefinition
  /**
   * Makes the requests that carry an event to the destination. Pure: no network, no clock, no random values, no change
   * of its inputs. The result may share parts with the event.
   *
   * @throws Error whose message tells the customer why there is no request.
   */
  transform(event: StoredEvent, context: TransformContext): RequestObject[]
  /**
   * A request without effect at the destination by which a configuration can be tried; left out where there is none.
   *
   * @throws Error whose message tells why there is none for this configuration.
   */
  testConnection?(context: TransformContext): RequestObject
  /** Whether a configuration wants events of a type that the definition supports; all of them if this is left out. */
  accepts?(messageType: string, config: JsonObject): boolean
  /** Whether a configuration wants an event of a type that it accepts. For one that it does not, `transform` gives no request. */
  wants?(event: StoredEvent, config: JsonObject): boolean
  /**
   * Says why the service would not take an event at this time although it may answer 2xx; undefined if it would. Pure: the
   * clock is an argument. Live traffic and the Test API ask before each transformation.
   */
  refusal?(event: StoredEvent, config: JsonObject, nowMs: number): string | undefined
  /**
   * Judges an answer where the status alone would mislead; undefined leaves it to the status. A number is the status that the
   * answer stands for, such as 401 for a refused token under status 200. The body is what its JSON says, else its text; of one
   * over 1 MB or of another type than text only the status tells anything.
   */
  classify?(answer: { status: number; headers: Record<string, string>; body: unknown }): Judgement | undefined
  /** Left out where each event travels alone. */
  readonly batches?: RequestBatches
  /** Set where the code runs elsewhere; then `transform` makes no request. */
  readonly remote?: RemoteCode
  /** Headers made while sending, over the bytes that are sent; not part of the request object. */
  sign?(
    request: { readonly url: string; readonly body: string },
    config: JsonObject,
    nowSeconds: number,
  ): Record<string, string>
  /**
   * How the access token of a configuration is obtained; undefined if it needs none. Sending puts the token into the header
   * `authorization`, where `transform` writes `TOKEN_HEADER`.
   *
   * @throws Error whose message tells which variable is missing.
   */
  tokenGrant?(config: JsonObject): TokenGrant | undefined
  /**
   * How a person lets the service issue the refresh token of a configuration, which may lack everything else.
   *
   * @throws Error as `tokenGrant`
   */
  authorization?(config: JsonObject): Authorization
  /** The certificate that connections of a configuration are made with; undefined for none. @throws Error as `tokenGrant` */
  certificate?(config: JsonObject): ClientCertificate | undefined
  /** Whether a request to this address may carry token and certificate. Every request may if this is left out. */
  mayHaveCredentials?(url: string, config: JsonObject): boolean
  /** What is wrong with a configuration that its schema allows. @param nowMs milliseconds since 1970 */
  faults?(config: JsonObject, nowMs: number): readonly ConfigFault[]
}
