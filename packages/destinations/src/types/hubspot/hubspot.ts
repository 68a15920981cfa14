import type { AnswerClass, JsonObject, StoredEvent } from '@millrace/protocol'
import { requiredText } from '../../config/config-text.ts'
import type { DestinationModule, TransformContext } from '../../definition.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { batches, EVENT, refusals, UPSERT } from './batches.ts'
import { contactInput } from './contact.ts'
import { definition } from './definition.ts'
import { customEventName, occurrence } from './occurrence.ts'

const ORIGIN = 'https://api.hubapi.com'

/**
 * Sends contacts and occurrences of custom events to HubSpot.
 *
 * @see docs/destinations/hubspot.md
 */
export const destination: DestinationModule = { definition, transform, testConnection, wants, classify, batches }

function transform(event: StoredEvent, context: TransformContext): RequestObject[] {
  const { config } = context
  if (event.type === 'identify') return [posted(UPSERT, { inputs: [contactInput(event, config)] }, context)]
  const eventName = customEventName(event, config)
  return eventName === undefined ? [] : [posted(EVENT, occurrence(event, eventName, config), context)]
}

/** HubSpot takes no event that is not defined there. */
function wants(event: StoredEvent, config: JsonObject): boolean {
  return event.type === 'identify' || customEventName(event, config) !== undefined
}

function testConnection(context: TransformContext): RequestObject {
  const endpoint = `${ORIGIN}/crm/v3/objects/contacts`
  return requestObject({ method: 'GET', endpoint, params: { limit: 1 }, headers: { authorization: bearerOf(context) } })
}

/** A short lock after many writes, and an account that HubSpot moves to another place. */
const PASSING = new Set([423, 477])

/** A 207 lists what was refused. */
function classify({ status, body }: { status: number; body: unknown }): AnswerClass | undefined {
  if (PASSING.has(status)) return 'retry'
  return status >= 200 && status <= 299 && refusals(body).length > 0 ? 'abort' : undefined
}

function posted(route: string, json: JsonObject, context: TransformContext): RequestObject {
  const headers = { authorization: bearerOf(context), 'content-type': 'application/json' }
  return requestObject({ method: 'POST', endpoint: `${ORIGIN}${route}`, headers, body: { JSON: json } })
}

function bearerOf({ config, bearer }: TransformContext): string {
  return bearer(requiredText(config, 'accessToken'))
}
