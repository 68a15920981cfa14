import type { JsonObject, JsonValue, StoredEvent } from '@millrace/protocol'
import { amountOf } from '../../event/amount.ts'
import { contextObject, duplicateId, eventProperties, eventTime, present } from '../../event/event-facts.ts'
import { googleConsent } from '../../event/google-consent.ts'
import { userIdentifiers } from './user-identifiers.ts'

const CLICK_IDS = ['gclid', 'gbraid', 'wbraid']
const SOURCES = new Map([
  ['web', 'WEB'],
  ['mobile', 'APP'],
])

/**
 * An event as the Data Manager API takes it.
 *
 * @throws Error if it has no time, or nothing by which Google could find the click.
 */
export function conversion(event: StoredEvent, config: JsonObject): JsonObject {
  const properties = eventProperties(event)
  const { order_id: orderId, value, revenue, total, currency } = properties
  const time = eventTime(event)
  if (time === undefined) throw new Error('timestamp is missing')
  const adIdentifiers = present(Object.fromEntries(CLICK_IDS.map((name) => [name, clickId(event, name)])))
  const identifiers = userIdentifiers(event)
  if (Object.keys(adIdentifiers).length === 0 && identifiers.length === 0) {
    throw new Error('no click id, email, phone or address: Google Ads could not match the event')
  }
  return {
    ...present({
      transactionId: textOf(orderId) ?? duplicateId(event),
      eventTimestamp: new Date(time).toISOString(),
      eventSource: SOURCES.get(String(event['channel'])),
      conversionValue: amountOf(value) ?? amountOf(revenue) ?? amountOf(total),
      currency: textOf(currency)?.toUpperCase(),
    }),
    ...filled('adIdentifiers', adIdentifiers),
    ...(identifiers.length === 0 ? {} : { userData: { userIdentifiers: identifiers } }),
    ...filled('consent', consent(event, config)),
  }
}

/** Of the properties, else of the address of the page. */
function clickId(event: StoredEvent, name: string): string | undefined {
  const { url, search } = contextObject(event, 'page')
  const own = textOf(eventProperties(event)[name])
  return own ?? parameterOf(textOf(url), name) ?? new URLSearchParams(textOf(search) ?? '').get(name) ?? undefined
}

function parameterOf(address: string | undefined, name: string): string | undefined {
  return (address === undefined ? null : URL.parse(address))?.searchParams.get(name) ?? undefined
}

function consent(event: StoredEvent, config: JsonObject): JsonObject {
  const { adUserData, adPersonalization } = googleConsent(event, config)
  return present({ adUserData: statusOf(adUserData), adPersonalization: statusOf(adPersonalization) })
}

function statusOf(answer: string | undefined): string | undefined {
  return answer === undefined ? undefined : `CONSENT_${answer}`
}

function filled(name: string, members: JsonObject): JsonObject {
  return Object.keys(members).length === 0 ? {} : { [name]: members }
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}
