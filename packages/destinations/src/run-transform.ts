import type { JsonObject, StoredEvent } from '@millrace/protocol'
import type { DestinationModule, EventMetadata, TransformContext } from './definition.ts'
import type { RequestObject } from './request-object.ts'

const MAX_REQUESTS = 100

/** What became of an event: requests, and the secrets made on the way; or the text that says why there are none. */
export type TransformResult = { requests: RequestObject[]; derivedSecrets: string[] } | { error: string }

/** The destination transformation, shielded: whatever the destination's code does costs only this event. */
export function runTransform(
  module: DestinationModule,
  event: StoredEvent,
  config: JsonObject,
  metadata: EventMetadata,
): TransformResult {
  const context = new Context(config, metadata)
  try {
    if (!module.definition.config.supportedMessageTypes['cloud']?.includes(event.type)) {
      return { error: `message type ${event.type} not supported` }
    }
    const requests: unknown = module.transform(event, context)
    if (!Array.isArray(requests) || !requests.every(isRequestObject)) {
      return { error: 'destination transformation returned no list of request objects' }
    }
    if (requests.length > MAX_REQUESTS) return { error: 'too many requests' }
    return { requests, derivedSecrets: context.derivedSecrets }
  } catch (thrown) {
    return { error: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}

class Context implements TransformContext {
  readonly config: JsonObject
  readonly metadata: EventMetadata
  derivedSecrets: string[] = NONE

  constructor(config: JsonObject, metadata: EventMetadata) {
    this.config = config
    this.metadata = metadata
  }

  basicAuth(userName: string, password: string): string {
    return this.secret(`Basic ${Buffer.from(`${userName}:${password}`).toString('base64')}`)
  }

  bearer(token: string): string {
    return this.secret(`Bearer ${token}`)
  }

  secret(value: string): string {
    this.derivedSecrets = [...this.derivedSecrets, value]
    return value
  }
}

const NONE: string[] = []

function isRequestObject(value: unknown): value is RequestObject {
  const request = value as RequestObject | null
  return (
    typeof request === 'object' &&
    request !== null &&
    typeof request.method === 'string' &&
    typeof request.endpoint === 'string' &&
    isObject(request.headers) &&
    isObject(request.params) &&
    isObject(request.body) &&
    isObject(request.body.JSON) &&
    isObject(request.body.JSON_ARRAY) &&
    isObject(request.body.XML) &&
    isObject(request.body.FORM)
  )
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
