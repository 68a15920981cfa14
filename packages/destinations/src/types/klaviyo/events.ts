import { eventName, formatTime, isJsonObject, type JsonObject, type StoredEvent } from '@millrace/protocol'
import { duplicateId, eventProperties, eventTime, present, trackName } from '../../event/event-facts.ts'
import { byLetters, lettersOf } from '../../event/letters.ts'
import { orderAmount, productAmount } from '../../event/products.ts'
import { viewName } from '../../event/view-name.ts'

/** A job takes 1,000 events: an order and its products. */
const MAX_PRODUCTS = 999

/**
 * The names under which Klaviyo knows e-commerce events.
 *
 * @see https://developers.klaviyo.com/en/docs/integrations-by-platform-type
 */
const klaviyoName = byLetters({
  'Product Viewed': 'Viewed Product',
  'Product Added': 'Added to Cart',
  'Checkout Started': 'Started Checkout',
  'Order Completed': 'Placed Order',
  'Order Fulfilled': 'Fulfilled Order',
  'Order Cancelled': 'Cancelled Order',
  'Order Refunded': 'Refunded Order',
})

/** A track, page or screen as attributes of an event without its profile, then what was ordered, if that is configured. */
export function klaviyoEvents(event: StoredEvent, config: JsonObject): JsonObject[] {
  const properties = eventProperties(event)
  const { currency } = properties
  const name = event.type === 'track' ? metricOf(trackName(event), config) : viewName(event)
  const own = attributesOf(event, name, viewed(event, properties), { value: amountFor(event, properties), currency })
  return [own, ...orderedProducts(event, config)]
}

function metricOf(name: string, { metricNames }: JsonObject): string {
  return (metricNames === 'own' ? undefined : klaviyoName(name)) ?? name
}

/** A view keeps its name and address as properties. */
function viewed(event: StoredEvent, properties: JsonObject): JsonObject {
  const name = event.type === 'track' ? '' : eventName(event)
  return name === '' ? properties : { name, ...properties }
}

/** Of an order or cart the total, of a product its price times its quantity. */
function amountFor(event: StoredEvent, properties: JsonObject): number | undefined {
  if (event.type !== 'track') return undefined
  return orderAmount(properties) ?? productAmount(properties)
}

function orderedProducts(event: StoredEvent, { orderedProducts }: JsonObject): JsonObject[] {
  if (orderedProducts !== true || event.type !== 'track' || lettersOf(trackName(event)) !== 'ordercompleted') return []
  const { products, order_id, currency } = eventProperties(event)
  if (!Array.isArray(products)) return []
  if (products.length > MAX_PRODUCTS) {
    throw new Error(`properties.products has ${products.length} products; Klaviyo takes ${MAX_PRODUCTS} at once`)
  }
  return products.filter(isJsonObject).map((product, at) => {
    const properties = { ...present({ order_id }), ...product }
    const amount = { value: productAmount(product), currency: product['currency'] ?? currency }
    return attributesOf(event, 'Ordered Product', properties, amount, `-product-${at + 1}`)
  })
}

/** @param suffix of the id for duplicates, where one event of ours gives several. */
function attributesOf(
  event: StoredEvent,
  metric: string,
  properties: JsonObject,
  { value, currency }: { value: number | undefined; currency: JsonObject[string] | undefined },
  suffix = '',
): JsonObject {
  const time = eventTime(event)
  const id = duplicateId(event)
  return {
    properties,
    metric: { data: { type: 'metric', attributes: { name: metric } } },
    ...present({
      time: time === undefined ? undefined : formatTime(time),
      value,
      value_currency: value === undefined || typeof currency !== 'string' ? undefined : currency.toUpperCase(),
      unique_id: id === undefined ? undefined : id + suffix,
    }),
  }
}
