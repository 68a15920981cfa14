import { type JsonObject, type JsonValue, ownMember, type StoredEvent, setMember } from '@millrace/protocol'
import { configNames } from '../../config/config-names.ts'
import { eventProperties, present } from '../../event/event-facts.ts'
import { orderAmount, productAmount, productId, productsOf, wholeProduct } from '../../event/products.ts'

/**
 * What was bought, viewed or searched. Other properties only if they are configured: Facebook forbids sensitive data.
 *
 * @throws Error for a purchase without value or currency.
 * @see https://developers.facebook.com/docs/marketing-api/conversions-api/parameters/custom-data
 */
export function customData(event: StoredEvent, name: string, config: JsonObject): JsonObject {
  const properties = eventProperties(event)
  const products = productsOf(properties).filter((product) => productId(product) !== undefined)
  const value = orderAmount(properties) ?? sumOf(products)
  const { currency, query, order_id, category, name: productName } = properties
  if (name === 'Purchase') {
    if (value === undefined) throw new Error('properties.total is missing: Facebook requires the value of a purchase')
    if (typeof currency !== 'string' || currency === '') {
      throw new Error('properties.currency is missing: Facebook requires the currency of a purchase')
    }
  }
  const single = products.length === 1 ? products[0]! : {}
  return {
    ...chosen(properties, config),
    ...present({
      value,
      currency: typeof currency === 'string' ? currency.toUpperCase() : undefined,
      content_name: single['name'] ?? productName,
      content_category: single['category'] ?? category,
      order_id: order_id === undefined || order_id === null ? undefined : String(order_id),
      search_string: query,
    }),
    ...contentsOf(products),
  }
}

function contentsOf(products: readonly JsonObject[]): JsonObject {
  const contents = products.flatMap((product) => {
    const { quantity, price } = wholeProduct(product)
    return quantity === 0 ? [] : [{ id: productId(product)!, quantity, ...present({ item_price: price }) }]
  })
  if (contents.length === 0) return {}
  return {
    content_ids: contents.map(({ id }) => id),
    contents,
    content_type: 'product',
    num_items: contents.reduce((sum, { quantity }) => sum + quantity, 0),
  }
}

function sumOf(products: readonly JsonObject[]): number | undefined {
  const amounts = products.map(productAmount)
  if (amounts.length === 0 || amounts.includes(undefined)) return undefined
  return amounts.reduce<number>((sum, amount) => sum + amount!, 0)
}

function chosen(properties: JsonObject, { customProperties }: JsonObject): JsonObject {
  const data: JsonObject = {}
  for (const name of configNames(customProperties)) {
    const value: JsonValue | undefined = ownMember(properties, name)
    if (value !== undefined && value !== null) setMember(data, name, value)
  }
  return data
}
