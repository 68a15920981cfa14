import { eventName, isJsonObject, type JsonObject, type JsonValue, type StoredEvent } from '@millrace/protocol'
import { contextObject, eventProperties, groupId, present } from '../../event/event-facts.ts'
import { itemsOf } from './items.ts'
import type { KnownEvent } from './known-events.ts'
import { EVENT_NUMBERS, paramValue } from './numbers.ts'
import { isReservedParamName } from './reserved-names.ts'
import { snakeCase } from './snake-case.ts'

/*
 * The params of an event: its properties, under the names that Google's reports know where they differ, the view of a page
 * or screen, and the session. Google takes texts, numbers and lists of items; anything else goes as JSON.
 */

/** Of every event. The total comes before the revenue. */
const COMMON_PARAMS = { order_id: 'transaction_id', total: 'value', revenue: 'value', query: 'search_term' }

export function ga4Params(event: StoredEvent, known: KnownEvent): JsonObject {
  const properties = eventProperties(event)
  const { session_id, ...params } = propertyParams(properties, known)
  return {
    ...factParams(event, known, properties),
    ...known.fixed,
    ...params,
    ...sessionParams(event, session_id, params['engagement_time_msec']),
  }
}

function propertyParams(properties: JsonObject, { params: renamed, withheld = [] }: KnownEvent): JsonObject {
  const params: JsonObject = {}
  const { items, properties: inItems } = itemsOf(properties)
  const taken = new Set([...inItems, ...withheld])
  for (const [name, param] of Object.entries({ ...renamed, ...COMMON_PARAMS })) {
    const value = ownValue(properties, name)
    if (value === undefined || ownValue(properties, param) !== undefined || Object.hasOwn(params, param)) continue
    params[param] = paramValue(param, value, EVENT_NUMBERS)
    taken.add(name)
  }
  for (const [name, value] of Object.entries(properties)) {
    const param = snakeCase(name)
    if (value === null || taken.has(name) || param === '' || isReservedParamName(param)) continue
    params[param] = paramValue(param, value, EVENT_NUMBERS)
  }
  if (items.length > 0) params['items'] = [...items]
  return params
}

/** What the event says outside its properties, which come before it. */
function factParams(event: StoredEvent, { name }: KnownEvent, { url, referrer, title }: JsonObject): JsonObject {
  switch (name) {
    case 'join_group':
      return event.type === 'group' ? { group_id: groupId(event) } : {}
    case 'screen_view':
      return event.type === 'screen' ? present({ screen_name: eventName(event) }) : {}
    case 'campaign_details': {
      const { id, name, source, medium, term, content } = contextObject(event, 'campaign')
      return present({ campaign_id: id, campaign: name, source, medium, term, content })
    }
    case 'page_view': {
      if (event.type !== 'page') return {}
      const page = contextObject(event, 'page')
      return present({
        page_location: url ?? page['url'],
        page_referrer: referrer ?? page['referrer'],
        page_title: title ?? page['title'] ?? event['name'],
      })
    }
    default:
      return {}
  }
}

/** Without a session and a time of engagement Google's reports show no active user. */
function sessionParams(
  { context }: StoredEvent,
  ofProperties: JsonValue | undefined,
  engagementMs: JsonValue = 1,
): JsonObject {
  const ofContext = isJsonObject(context) ? context['sessionId'] : undefined
  const sessionId = sessionNumber(ofProperties) ?? sessionNumber(ofContext)
  return sessionId === undefined ? {} : { session_id: sessionId, engagement_time_msec: engagementMs }
}

/** Google takes a session only by a number. */
function sessionNumber(id: JsonValue | undefined): string | undefined {
  const text = typeof id === 'number' ? String(id) : id
  return typeof text === 'string' && /^\d+$/.test(text) ? text : undefined
}

function ownValue(properties: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(properties, name) ? (properties[name] ?? undefined) : undefined
}
