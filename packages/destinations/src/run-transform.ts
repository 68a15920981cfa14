import type { JsonObject, StoredEvent } from '@millrace/protocol'
import type { DestinationModule, EventMetadata, TransformContext } from './definition.ts'
import { filledBody, isRequestObject, type RequestObject } from './requests/request-object.ts'
import { supportsType } from './shield.ts'

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
  const derivedSecrets: string[] = []
  try {
    if (!supportsType(module, event.type, config)) {
      return { error: `message type ${event.type} not supported` }
    }
    const requests: unknown = module.transform(event, new Context(config, metadata, derivedSecrets))
    if (!Array.isArray(requests) || !requests.every(isRequestObject)) {
      // A rejection that nobody waits for would end the process.
      if (requests instanceof Promise) requests.catch(() => {})
      return { error: 'destination transformation did not return a list of request objects' }
    }
    if (requests.length > MAX_REQUESTS) return { error: 'too many requests' }
    for (const { body } of requests) filledBody(body)
    return { requests, derivedSecrets }
  } catch (thrown) {
    return { error: thrown instanceof Error ? thrown.message : 'destination transformation failed' }
  }
}

/**
 * Its functions need no `this`, because a transformation may take them out by name. They are made only when asked for:
 * most transformations need none of them, and this is made for every event.
 */
class Context implements TransformContext {
  readonly config: JsonObject
  readonly metadata: EventMetadata
  readonly #derivedSecrets: string[]

  constructor(config: JsonObject, metadata: EventMetadata, derivedSecrets: string[]) {
    this.config = config
    this.metadata = metadata
    this.#derivedSecrets = derivedSecrets
  }

  get secret() {
    return (value: string): string => {
      this.#derivedSecrets.push(value)
      return value
    }
  }

  // Both forms are registered: an answer may repeat the credentials without their scheme.
  get basicAuth() {
    const { secret } = this
    return (userName: string, password: string): string =>
      secret(`Basic ${secret(Buffer.from(`${userName}:${password}`).toString('base64'))}`)
  }

  get bearer() {
    const { secret } = this
    return (token: string): string => secret(`Bearer ${secret(token)}`)
  }
}
