import { type AnswerClass, eventName, formatTime, type JsonObject, type StoredEvent } from '@millrace/protocol'
import { configText, requiredText } from '../../config/config-text.ts'
import type { DestinationModule, TransformContext } from '../../definition.ts'
import { eventProperties, eventTime, previousId, trackName, userId } from '../../event/event-facts.ts'
import { lettersOf } from '../../event/letters.ts'
import { viewName } from '../../event/view-name.ts'
import { type RequestObject, requestObject } from '../../requests/request-object.ts'
import { userAttributes } from './attributes.ts'
import { batches, refusals } from './batches.ts'
import { definition } from './definition.ts'
import { purchasesOf } from './purchases.ts'
import { recommendedEvent } from './recommended-events.ts'
import { ANONYMOUS_LABEL, anonymousAlias, brazeUser } from './user.ts'

/**
 * Sends users, events and purchases by Braze's track endpoint, and who an anonymous user is by its identify endpoint.
 *
 * @see docs/destinations/braze.md
 */
export const destination: DestinationModule = { definition, transform, classify, batches }

function transform(event: StoredEvent, context: TransformContext): RequestObject[] {
  const { config } = context
  switch (event.type) {
    case 'alias':
      return [identified(aliasedUser(event), context)]
    case 'identify': {
      const attributes = { ...brazeUser(event, config), ...userAttributes(event) }
      const known = config['mergeAnonymous'] === true ? knownUser(event) : undefined
      const tracked = posted('/users/track', { attributes: [attributes] }, context)
      return known === undefined ? [tracked] : [identified(known, context), tracked]
    }
    default:
      return [posted('/users/track', tracks(event, config), context)]
  }
}

/** A request that was taken may hold objects that were not. */
function classify({ status, body }: { status: number; body: unknown }): AnswerClass | undefined {
  return status >= 200 && status <= 299 && refusals(body).length > 0 ? 'abort' : undefined
}

/** A track, page or screen as what `/users/track` takes. */
function tracks(event: StoredEvent, config: JsonObject): JsonObject {
  const time = eventTime(event)
  if (time === undefined) throw new Error('timestamp is missing')
  const appId = configText(config, 'appId')
  const common = {
    ...brazeUser(event, config),
    ...(appId === undefined ? {} : { app_id: appId }),
    time: formatTime(time),
  }
  const purchases = ordered(event, config)
  if (purchases.length > 0) return { purchases: purchases.map((purchase) => ({ ...common, ...purchase })) }
  const { name, properties } = namedEvent(event, config)
  return { events: [{ ...common, name, ...(Object.keys(properties).length === 0 ? {} : { properties }) }] }
}

function ordered(event: StoredEvent, { ecommerce }: JsonObject): JsonObject[] {
  const isOrder = event.type === 'track' && lettersOf(trackName(event)) === 'ordercompleted'
  const arePurchases = ecommerce !== 'recommended' && ecommerce !== 'none'
  return isOrder && arePurchases ? purchasesOf(eventProperties(event)) : []
}

function namedEvent(event: StoredEvent, { ecommerce }: JsonObject): { name: string; properties: JsonObject } {
  if (event.type !== 'track') return { name: viewName(event), properties: viewProperties(event) }
  const name = trackName(event)
  const known = ecommerce === 'recommended' ? recommendedEvent(event, name) : undefined
  return known ?? { name, properties: eventProperties(event) }
}

/** A view keeps its name as a property, by which campaigns can be triggered. */
function viewProperties(event: StoredEvent): JsonObject {
  const name = eventName(event)
  return { ...(name === '' ? {} : { name }), ...eventProperties(event) }
}

function knownUser(event: StoredEvent): JsonObject | undefined {
  const user = userId(event)
  const alias = anonymousAlias(event)
  return user === undefined || alias === undefined ? undefined : { external_id: user, user_alias: alias }
}

/** @throws Error without both ids. */
function aliasedUser(event: StoredEvent): JsonObject {
  const user = userId(event)
  if (user === undefined) throw new Error('userId is missing')
  return { external_id: user, user_alias: { alias_name: previousId(event), alias_label: ANONYMOUS_LABEL } }
}

function identified(user: JsonObject, context: TransformContext): RequestObject {
  return posted('/users/identify', { aliases_to_identify: [user] }, context)
}

function posted(route: string, json: JsonObject, { config, bearer }: TransformContext): RequestObject {
  const origin = requiredText(config, 'restEndpoint').replace(/\/+$/, '')
  const headers = { authorization: bearer(requiredText(config, 'apiKey')), 'content-type': 'application/json' }
  return requestObject({ method: 'POST', endpoint: `${origin}${route}`, headers, body: { JSON: json } })
}
