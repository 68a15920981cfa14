import { isJsonObject, type JsonObject, type JsonValue, type Judgement, type StoredEvent } from '@millrace/protocol'
import { apiVersion, versionEnded } from '../../config/api-version.ts'
import { configText, requiredText } from '../../config/config-text.ts'
import type { DestinationModule, RequestBatches, TransformContext } from '../../definition.ts'
import { contextObject, duplicateId, eventProperties, eventTime, present, trackName } from '../../event/event-facts.ts'
import { byLetters, lettersOf } from '../../event/letters.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { appData } from './app-data.ts'
import { customData } from './custom-data.ts'
import { API_VERSION, definition } from './definition.ts'
import { userData } from './user-data.ts'

/** Facebook takes lists of events whole or not at all: a refused one is halved until the event at fault is alone. */
const batches: RequestBatches = {
  takesManyOfOneUser: true,
  limits: () => ({ maxEvents: 1_000, maxBytes: 3_900_000 }),
  key: ({ endpoint, headers, body }) => JSON.stringify([endpoint, headers, body.JSON['test_event_code'] ?? null]),
  join(requests) {
    const [first] = requests
    if (requests.length === 1) return first!
    const data = requests.flatMap(({ body }) => body.JSON['data'] as JsonObject[])
    return { ...first!, body: { ...first!.body, JSON: { ...first!.body.JSON, data } } }
  },
}

/**
 * Sends events to Meta's Conversions API.
 *
 * @see docs/destinations/facebook-capi.md
 */
export const destination: DestinationModule = { definition, transform, refusal, classify, batches }

function transform(event: StoredEvent, { config, bearer }: TransformContext): RequestObject[] {
  const headers = { authorization: bearer(requiredText(config, 'accessToken')), 'content-type': 'application/json' }
  const pixel = encodeURIComponent(requiredText(config, 'pixelId'))
  const endpoint = `https://graph.facebook.com/${encodeURIComponent(apiVersion(config, API_VERSION))}/${pixel}/events`
  const json = {
    data: [serverEvent(event, config)],
    ...present({ test_event_code: configText(config, 'testEventCode') }),
  }
  return [requestObject({ method: 'POST', endpoint, headers, body: { JSON: json } })]
}

const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1_000

/** Facebook refuses the whole list that holds an older event. It takes older ones of stores. */
function refusal(event: StoredEvent, config: JsonObject, nowMs: number): string | undefined {
  const time = eventTime(event)
  if (time === undefined || nowMs - time <= MAX_AGE_MS || sourceOf(event, config) === 'physical_store') return undefined
  return `Facebook refuses events older than 7 days: this one is from ${new Date(time).toISOString()}`
}

/** Codes of permissions that the token does not have, or no longer. */
const PERMISSIONS = [10, ...Array.from({ length: 100 }, (_, n) => 200 + n)]

/**
 * The status that a code stands for: of a token that has ended or was revoked, of a permission, of Facebook's rate limits, of its own
 * trouble.
 */
const STATUS_OF = new Map<unknown, number>([
  ...[102, 190].map((code) => [code, 401] as const),
  ...PERMISSIONS.map((code) => [code, 403] as const),
  ...[4, 17, 341, 613, 80_004].map((code) => [code, 429] as const),
  ...[1, 2].map((code) => [code, 503] as const),
])

const VERSION_ENDED = 2_635

/** Under the same status an error may pass by itself, be about the token or the version of the API, or about the events. */
function classify({ status, body }: { status: number; body: unknown }): Judgement | undefined {
  const error = isJsonObject(body) ? body['error'] : undefined
  if (status < 400 || status > 499 || !isJsonObject(error)) return undefined
  if (error['code'] === VERSION_ENDED) return versionEnded('Facebook')
  return STATUS_OF.get(error['code']) ?? (error['is_transient'] === true ? 503 : undefined)
}

function serverEvent(event: StoredEvent, config: JsonObject): JsonObject {
  const time = eventTime(event)
  if (time === undefined) throw new Error('timestamp is missing')
  const name = event.type === 'page' ? 'PageView' : nameOf(trackName(event), config)
  const source = sourceOf(event, config)
  const properties = eventProperties(event)
  const page = contextObject(event, 'page')
  const custom = customData(event, name, config)
  const app = source === 'app' ? appData(event) : {}
  return {
    event_name: name,
    event_time: Math.floor(time / 1_000),
    ...present({
      event_id: properties['event_id'] ?? duplicateId(event),
      event_source_url: page['url'] ?? properties['url'],
      referrer_url: page['referrer'] ?? properties['referrer'],
    }),
    action_source: source,
    user_data: userData(event, source),
    ...(Object.keys(custom).length === 0 ? {} : { custom_data: custom }),
    ...(Object.keys(app).length === 0 ? {} : { app_data: app }),
    ...dataProcessing(event, config),
  }
}

const standardName = byLetters({
  'Order Completed': 'Purchase',
  'Product Added': 'AddToCart',
  'Checkout Started': 'InitiateCheckout',
  'Product Viewed': 'ViewContent',
  'Products Searched': 'Search',
  'Signed Up': 'CompleteRegistration',
  'Payment Info Entered': 'AddPaymentInfo',
  'Product Added to Wishlist': 'AddToWishlist',
})

function nameOf(name: string, { eventNames }: JsonObject): string {
  const configured = Array.isArray(eventNames) ? eventNames.filter(isJsonObject) : []
  const found = configured.find((each) => lettersOf(String(each['eventName'])) === lettersOf(name))
  const given = found?.['name']
  return typeof given === 'string' && given !== '' ? given : (standardName(name) ?? name)
}

function sourceOf({ channel }: StoredEvent, config: JsonObject): string {
  const configured = configText(config, 'actionSource')
  if (configured !== undefined) return configured
  return channel === 'web' ? 'website' : channel === 'mobile' ? 'app' : 'system_generated'
}

/** Options with country and state: of the event, else Limited Data Use wherever Facebook finds that it applies. */
function dataProcessing({ context }: StoredEvent, { limitedDataUse }: JsonObject): JsonObject {
  const given = isJsonObject(context) ? context['dataProcessingOptions'] : undefined
  const [options, country, state]: (JsonValue | undefined)[] = Array.isArray(given)
    ? given
    : limitedDataUse === true
      ? [['LDU'], 0, 0]
      : []
  if (!Array.isArray(options)) return {}
  return {
    data_processing_options: options,
    ...present({ data_processing_options_country: country, data_processing_options_state: state }),
  }
}
