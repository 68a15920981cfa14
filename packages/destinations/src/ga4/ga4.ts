import type { JsonObject, StoredEvent } from '@millrace/protocol'
import type { DestinationModule, TransformContext } from '../definition.ts'
import { anonymousId, eventTime, externalId, present, userId } from '../event-facts.ts'
import { type RequestObject, requestObject } from '../request-object.ts'
import { definition } from './definition.ts'
import { ga4Name } from './event-name.ts'
import { ga4Params } from './event-params.ts'

/**
 * Sends events to a stream of Google Analytics 4 by its Measurement Protocol, which answers 2xx to anything.
 *
 * @see docs/destinations/ga4.md
 */
export const destination: DestinationModule = { definition, transform }

function transform(event: StoredEvent, { config }: TransformContext): RequestObject[] {
  const { measurementId, firebaseAppId, apiSecret, region } = config
  if (!isText(apiSecret)) throw new Error('apiSecret is missing')
  const time = eventTime(event)
  const sender = isText(measurementId) ? webSender(event) : isText(firebaseAppId) ? appSender(event) : undefined
  if (sender === undefined) throw new Error('measurementId or firebaseAppId is missing')
  return [
    requestObject({
      method: 'POST',
      endpoint: `https://${hostOf(region)}/mp/collect`,
      headers: { 'content-type': 'application/json' },
      params: {
        ...(isText(measurementId) ? { measurement_id: measurementId } : { firebase_app_id: firebaseAppId! }),
        api_secret: apiSecret,
      },
      body: {
        JSON: {
          ...sender,
          ...present({ user_id: userId(event), timestamp_micros: time === undefined ? undefined : time * 1_000 }),
          events: [{ name: ga4Name(event), params: ga4Params(event) }],
        },
      },
    }),
  ]
}

function webSender(event: StoredEvent): JsonObject {
  const id = anonymousId(event)
  if (id === undefined) throw new Error('anonymousId is missing')
  return { client_id: id }
}

function appSender(event: StoredEvent): JsonObject {
  const id = externalId(event, 'ga4AppInstanceId')
  if (id === undefined) throw new Error('context.externalId has no id of type ga4AppInstanceId')
  return { app_instance_id: id }
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
