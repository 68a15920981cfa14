import type {
  Authorization,
  BatchOutcome,
  ClientCertificate,
  JsonObject,
  Judgement,
  StoredEvent,
  TokenGrant,
} from '@millrace/protocol'
import type { DestinationModule, RequestBatches } from './definition.ts'
import { isRequestObject, type RequestObject } from './requests/request-object.ts'

/*
 * Every call into the code of a destination goes through here: whatever that code does, it costs the event at hand and
 * nothing else. `transform` has its own shield in run-transform.ts.
 */

/** The code of a destination failed. The message is for the customer, its secrets not yet masked. */
export class DestinationCodeError extends Error {
  override name = 'DestinationCodeError'
  readonly code = 'DESTINATION_CODE'
}

/** Whether a destination takes events of a type at all. @throws DestinationCodeError */
export function supportsType(module: DestinationModule, messageType: string, config: JsonObject): boolean {
  if (!module.definition.config.supportedMessageTypes['cloud']?.includes(messageType)) return false
  if (module.accepts === undefined) return true
  try {
    return yesOrNo(module.accepts(messageType, config), 'accepts')
  } catch (thrown) {
    throw failureOf(thrown)
  }
}

/** Whether a configuration wants an event of a type that it accepts. @throws DestinationCodeError */
export function wantsEvent(module: DestinationModule, event: StoredEvent, config: JsonObject): boolean {
  if (module.wants === undefined) return true
  try {
    return yesOrNo(module.wants(event, config), 'wants')
  } catch (thrown) {
    throw failureOf(thrown)
  }
}

/**
 * Why the service would not take an event now, or why the destination's code could not tell. Undefined for an event that it
 * would take, or whose type is not supported. Never throws.
 */
export function refusalOf(
  module: DestinationModule,
  event: StoredEvent,
  config: JsonObject,
  nowMs: number,
): string | undefined {
  if (module.refusal === undefined) return undefined
  try {
    if (!supportsType(module, event.type, config)) return undefined
    const reason: unknown = module.refusal(event, config, nowMs)
    if (reason === undefined || typeof reason === 'string') return reason
    throw notWhatItShould(reason, 'refusal')
  } catch (thrown) {
    return failureOf(thrown).message
  }
}

type Answer = Parameters<NonNullable<DestinationModule['classify']>>[0]

/** The destination's own judgement of answers; undefined where it has none. It throws DestinationCodeError. */
export function classifierOf(module: DestinationModule) {
  if (module.classify === undefined) return undefined
  return (answer: Answer): Judgement | undefined => {
    try {
      const judged: unknown = module.classify!(answer)
      if (judged === undefined || judged === 'delivered' || judged === 'retry' || judged === 'abort') return judged
      if (Number.isInteger(judged) && (judged as number) >= 100 && (judged as number) <= 599) return judged as number
      if (isUnauthorised(judged)) return judged
      throw notWhatItShould(judged, 'classify')
    } catch (thrown) {
      throw failureOf(thrown)
    }
  }
}

/** Headers that sign a body; undefined where the destination signs nothing. @throws DestinationCodeError */
export function signatureOf(
  module: DestinationModule,
  request: { readonly url: string; readonly body: string },
  config: JsonObject,
  nowSeconds: number,
): Record<string, string> | undefined {
  if (module.sign === undefined) return undefined
  try {
    const signed: unknown = module.sign(request, config, nowSeconds)
    const isHeaders = typeof signed === 'object' && signed !== null && !Array.isArray(signed)
    if (isHeaders && Object.values(signed).every((value) => typeof value === 'string')) {
      return signed as Record<string, string>
    }
    throw notWhatItShould(signed, 'sign')
  } catch (thrown) {
    throw failureOf(thrown)
  }
}

/** How a configuration's access token is obtained; undefined if it needs none. @throws DestinationCodeError */
export function tokenGrantOf(module: DestinationModule, config: JsonObject): TokenGrant | undefined {
  try {
    return module.tokenGrant?.(config)
  } catch (thrown) {
    throw failureOf(thrown)
  }
}

/** How a refresh token is issued for a configuration; undefined if the type has none. @throws DestinationCodeError */
export function authorizationOf(module: DestinationModule, config: JsonObject): Authorization | undefined {
  try {
    return module.authorization?.(config)
  } catch (thrown) {
    throw failureOf(thrown)
  }
}

/** The certificate of a configuration's connections; undefined for none. @throws DestinationCodeError */
export function certificateOf(module: DestinationModule, config: JsonObject): ClientCertificate | undefined {
  try {
    return module.certificate?.(config)
  } catch (thrown) {
    throw failureOf(thrown)
  }
}

/** Whether a request to this address may carry token and certificate. @throws DestinationCodeError */
export function mayHaveCredentials(module: DestinationModule, url: string, config: JsonObject): boolean {
  if (module.mayHaveCredentials === undefined) return true
  try {
    return yesOrNo(module.mayHaveCredentials(url, config), 'mayHaveCredentials')
  } catch (thrown) {
    throw failureOf(thrown)
  }
}

/** Bounds of a destination's batches; undefined where each event travels alone. @throws DestinationCodeError */
export function batchLimitsOf(module: DestinationModule, config: JsonObject) {
  try {
    return module.batches?.limits(config)
  } catch (thrown) {
    throw failureOf(thrown)
  }
}

/** The key of a request's batch, and how many may be in it; undefined if it travels alone. @throws DestinationCodeError */
export function batchKeyOf(
  batches: RequestBatches,
  request: RequestObject,
): { readonly key: string; readonly maxEvents: number } | undefined {
  try {
    const key: unknown = batches.key(request)
    if (key === undefined) return undefined
    const maxEvents: unknown = batches.maxEvents?.(request) ?? Number.POSITIVE_INFINITY
    if (typeof key === 'string' && typeof maxEvents === 'number') return { key, maxEvents }
    throw notWhatItShould(key, 'key')
  } catch (thrown) {
    throw failureOf(thrown)
  }
}

/** @throws DestinationCodeError */
export function joinedRequest(
  batches: RequestBatches,
  requests: readonly RequestObject[],
  bodies: readonly string[],
  config: JsonObject,
): RequestObject {
  try {
    const joined: unknown = batches.join(requests, bodies, config)
    if (isRequestObject(joined)) return joined
    throw notWhatItShould(joined, 'join')
  } catch (thrown) {
    throw failureOf(thrown)
  }
}

const BATCH_OUTCOMES: readonly unknown[] = ['delivered', 'retry', 'abort', 'resend'] satisfies BatchOutcome[]

/** What an answer says about each event of a batch; undefined where it says the same about all. @throws DestinationCodeError */
export function batchOutcomesOf(
  batches: RequestBatches,
  answer: Answer,
  requests: readonly RequestObject[],
): readonly BatchOutcome[] | undefined {
  try {
    const outcomes: unknown = batches.outcomes?.(answer, requests)
    if (outcomes === undefined) return undefined
    const isWhole = Array.isArray(outcomes) && outcomes.length === requests.length
    if (isWhole && outcomes.every((outcome) => BATCH_OUTCOMES.includes(outcome))) return outcomes
    throw notWhatItShould(outcomes, 'outcomes')
  } catch (thrown) {
    throw failureOf(thrown)
  }
}

function isUnauthorised(value: unknown): value is { unauthorised: string } {
  return (
    typeof value === 'object' && value !== null && 'unauthorised' in value && typeof value.unauthorised === 'string'
  )
}

function yesOrNo(value: unknown, what: string): boolean {
  if (typeof value === 'boolean') return value
  throw notWhatItShould(value, what)
}

function notWhatItShould(value: unknown, what: string): Error {
  // A rejection that nobody waits for would end the process.
  if (value instanceof Promise) value.catch(() => {})
  return new Error(`\`${what}\` of the destination returned an invalid value`)
}

function failureOf(thrown: unknown): DestinationCodeError {
  const text = thrown instanceof Error ? thrown.message : 'the code of the destination failed'
  return new DestinationCodeError(text, { cause: thrown })
}
