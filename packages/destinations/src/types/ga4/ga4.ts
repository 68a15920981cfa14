import { type AnswerClass, isJsonObject, type JsonObject, type StoredEvent } from '@millrace/protocol'
import type { DestinationModule, TransformContext } from '../../definition.ts'
import { eventTime, present, userId } from '../../event/event-facts.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { batches } from './batches.ts'
import { consent } from './consent.ts'
import { definition } from './definition.ts'
import { deviceAndPlace } from './device-and-place.ts'
import { ga4Event } from './event-name.ts'
import { ga4Params } from './event-params.ts'
import { appSender, webSender } from './sender.ts'
import { userProperties } from './user-properties.ts'

/**
 * Sends events to a stream of Google Analytics 4 by its Measurement Protocol, which answers 2xx to anything.
 *
 * @see docs/destinations/ga4.md
 */
export const destination: DestinationModule = { definition, transform, refusal, classify, batches }

function transform(event: StoredEvent, { config }: TransformContext): RequestObject[] {
  const { measurementId, firebaseAppId, apiSecret, region, debug } = config
  if (!isText(apiSecret)) throw new Error('apiSecret is missing')
  const isValidation = debug === true
  return [
    requestObject({
      method: 'POST',
      endpoint: `https://${hostOf(region)}${isValidation ? '/debug' : ''}/mp/collect`,
      headers: { 'content-type': 'application/json' },
      params: {
        ...(isText(measurementId) ? { measurement_id: measurementId } : { firebase_app_id: firebaseAppId ?? '' }),
        api_secret: apiSecret,
      },
      body: { JSON: { ...(isValidation ? STRICT : {}), ...payload(event, config) } },
    }),
  ]
}

/** The validation server judges what it is asked to enforce. */
const STRICT = { validation_behavior: 'ENFORCE_RECOMMENDATIONS' }

function payload(event: StoredEvent, config: JsonObject): JsonObject {
  const sender = senderOf(event, config)
  const known = ga4Event(event, config)
  const time = eventTime(event)
  return {
    ...sender,
    ...present({ user_id: userId(event), timestamp_micros: time === undefined ? undefined : time * 1_000 }),
    ...userProperties(event, config),
    ...consent(event, config),
    ...deviceAndPlace(event, config),
    events: [{ name: known.name, params: ga4Params(event, known) }],
  }
}

function senderOf(event: StoredEvent, { measurementId, firebaseAppId }: JsonObject): JsonObject {
  if (isText(measurementId)) return webSender(event)
  if (isText(firebaseAppId)) return appSender(event)
  throw new Error('measurementId or firebaseAppId is missing')
}

/** Google would move the event to another time, so it would be counted on a wrong day. */
function refusal(event: StoredEvent, _: JsonObject, nowMs: number): string | undefined {
  const time = eventTime(event)
  if (time === undefined || nowMs - time <= MAX_AGE_MS) return undefined
  return `GA4 refuses events older than 72 hours: this one is from ${new Date(time).toISOString()}`
}

const MAX_AGE_MS = 72 * 60 * 60 * 1_000

/** Only the validation server says what is wrong with an event, under status 200. */
function classify({ body }: { body: unknown }): AnswerClass | undefined {
  const messages = isJsonObject(body) ? body['validationMessages'] : undefined
  return Array.isArray(messages) && messages.length > 0 ? 'abort' : undefined
}

function hostOf(region: unknown): string {
  switch (region) {
    case undefined:
    case null:
    case '':
    case 'global':
      return 'www.google-analytics.com'
    case 'eu':
      return 'region1.google-analytics.com'
    default:
      throw new Error(`Unsupported region ${String(region)}`)
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
