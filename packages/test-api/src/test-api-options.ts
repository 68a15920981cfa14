import type { IncomingMessage } from 'node:http'
import type { DestinationModule } from '@millrace/destinations'
import type { Sender, UserCode } from '@millrace/pipeline'
import type { ConnectionRules, ConsentRequirement, JsonObject } from '@millrace/protocol'
import type { Clock, RequestRate } from '@millrace/std'
import type { TransformationCode } from '@millrace/transformations'
import type { FastifyRequest } from 'fastify'

/** What the Test API needs of the others; compose.ts passes what fits. */
export interface TestApiOptions {
  /** As of now; the control plane's snapshot fits. */
  readonly configuration: () => TestedConfiguration
  readonly destinationTypes: { find(name: string): DestinationModule | undefined; all(): readonly DestinationModule[] }
  /** The class of a source's type: `cordova`, `web` or `cloud`. */
  readonly sourceClass: (type: string) => string
  readonly userCode: UserCode
  /** Saved for user code, in clear; another configuration has another map. */
  readonly credentials: () => ReadonlyMap<string, string>
  /** Of one request: as live traffic has it, but for how much of an answer is read. */
  readonly newClient: () => TestClient
  /** @returns undefined for credentials that are not good. */
  readonly authenticate: (request: FastifyRequest, requestId: string) => Promise<Tester | undefined>
  /** Whether a request comes from the dashboard: then a 401 must not make the browser ask for a password. */
  readonly isFromDashboard: (request: FastifyRequest) => boolean
  /** Takes one request from the allowance of a token. */
  readonly takeRequest: (tokenId: string) => RequestRate
  readonly bodies: RequestBodies
  readonly isReady: () => boolean
  readonly clock: Clock
  /** Of the program. */
  readonly version: string
  readonly limits: TestApiLimits
  /** Whether the definitions are shown without credentials. */
  readonly areDefinitionsOpen: boolean
  readonly logger: { error(fields: object, text: string): void }
}

export interface TestApiLimits {
  /** Of a request, as sent and again after decoding. */
  readonly maxBodyBytes: number
  /** Of an event in live traffic; 0 means no limit. */
  readonly maxEventBytes: number
  /** Runs at a time. */
  readonly concurrency: number
  /** Of a whole request. */
  readonly timeoutMs: number
}

export interface TestedConfiguration {
  readonly sources: ReadonlyMap<string, TestedSource>
  readonly destinations: ReadonlyMap<string, TestedDestination>
  readonly connections: ReadonlyMap<string, TestedConnection>
  /** In order of creation. */
  connectionsOf(sourceId: string): readonly TestedConnection[]
}

export interface TestedConnection {
  readonly id: string
  readonly sourceId: string
  readonly destinationId: string
  readonly isEnabled: boolean
  /** Undefined: every event goes. */
  readonly rules?: ConnectionRules | undefined
}

export interface TestedSource {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly isEnabled: boolean
  readonly config?: { readonly withoutConsent?: 'hold_back' | undefined }
}

export interface TestedDestination {
  readonly id: string
  readonly name: string
  readonly workspaceId: string
  /** Of its definition, such as `WEBHOOK`. */
  readonly type: string
  readonly isEnabled: boolean
  /** With its secrets in clear. */
  readonly config: JsonObject
  readonly consent?: ConsentRequirement | undefined
  /** Published versions, in order. */
  readonly transformations: readonly TransformationCode[]
}

/** Sends the requests of one run. */
export interface TestClient extends Sender {
  close(): Promise<void>
}

/** Who makes a request. */
export interface Tester {
  readonly tokenId: string
  readonly role: 'viewer' | 'editor' | 'admin'
  /** Leaves an entry in the audit log: this destination was tested. */
  note(destinationId: string): void
}

/** Each refuses by throwing an error with the `status` and the text of its answer. */
export interface RequestBodies {
  read(payload: IncomingMessage, maxBytes: number): Promise<Buffer>
  decode(body: Buffer, encoding: string | undefined, maxBytes: number): Promise<Buffer>
  /** A JSON object, nested at most 200 levels. */
  parse(body: Buffer): JsonObject
}
