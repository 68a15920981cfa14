import { eventName, isJsonObject, type JsonObject, type JsonValue, type StoredEvent } from '@millrace/protocol'
import { contextObject, eventProperties, present } from '../event-facts.ts'
import { snakeCase } from './event-name.ts'

/*
 * The params of an event: its properties, under the names that Google's reports know where they differ, the view of a page
 * or screen, and the session. Google takes texts, numbers and lists of items; anything else goes as JSON.
 */

const PROPERTIES = new Map([
  ['order_id', 'transaction_id'],
  ['total', 'value'],
  ['query', 'search_term'],
])

const PRODUCT_PROPERTIES = new Map([
  ['product_id', 'item_id'],
  ['sku', 'item_id'],
  ['name', 'item_name'],
  ['brand', 'item_brand'],
  ['category', 'item_category'],
  ['variant', 'item_variant'],
  ['position', 'index'],
])
/** An event about a product that has it at the top: `product_id` among the properties. */
const ITEM_MEMBERS = ['product_id', 'sku', 'name', 'brand', 'category', 'variant', 'position', 'price', 'quantity']

export function ga4Params(event: StoredEvent): JsonObject {
  const properties = eventProperties(event)
  const items = itemsOf(properties)
  const inItem = items.length === 1 && !Array.isArray(properties['products']) ? ITEM_MEMBERS : []
  const params: JsonObject = {}
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || inItem.includes(name) || (name === 'products' && items.length > 0)) continue
    const known = PROPERTIES.get(name)
    const param = known === undefined || Object.hasOwn(properties, known) ? snakeCase(name) : known
    if (param !== '') params[param] = plain(value)
  }
  if (items.length > 0) params['items'] = items
  return { ...viewParams(event, properties), ...params, ...sessionParams(event, params) }
}

function itemsOf(properties: JsonObject): JsonObject[] {
  const { products, product_id, sku } = properties
  if (Array.isArray(products)) return products.filter(isJsonObject).map((each) => itemOf(Object.keys(each), each))
  return product_id === undefined && sku === undefined ? [] : [itemOf(ITEM_MEMBERS, properties)]
}

function itemOf(names: readonly string[], product: JsonObject): JsonObject {
  const item: JsonObject = {}
  for (const name of names) {
    const value = product[name]
    const param = PRODUCT_PROPERTIES.get(name) ?? snakeCase(name)
    if (value === undefined || value === null || param === '' || Object.hasOwn(item, param)) continue
    item[param] = plain(value)
  }
  return item
}

/** What a page or screen is; properties come before what the context says. */
function viewParams(event: StoredEvent, { url, referrer, title }: JsonObject): JsonObject {
  if (event.type === 'screen') return present({ screen_name: eventName(event) })
  if (event.type !== 'page') return {}
  const page = contextObject(event, 'page')
  return present({
    page_location: url ?? page['url'],
    page_referrer: referrer ?? page['referrer'],
    page_title: title ?? page['title'] ?? event['name'],
  })
}

/** Without a session and a time of engagement Google's reports show no active user. */
function sessionParams({ context }: StoredEvent, params: JsonObject): JsonObject {
  const sessionId = isJsonObject(context) ? context['sessionId'] : undefined
  if (typeof sessionId !== 'number' && typeof sessionId !== 'string') return {}
  return { session_id: String(sessionId), engagement_time_msec: params['engagement_time_msec'] ?? 1 }
}

function plain(value: JsonValue): JsonValue {
  return typeof value === 'object' ? JSON.stringify(value) : value
}
