import type { JsonObject, StoredEvent } from '@millrace/protocol'
import { eventProperties, present } from '../../event/event-facts.ts'
import { orderAmount, productAmount, productId, productsOf, wholeProduct } from '../../event/products.ts'

/** What was bought, looked at or searched; empty if the event says nothing about it. */
export function customData(event: StoredEvent): JsonObject {
  const properties = eventProperties(event)
  const products = productsOf(properties)
  const bought = products
    .map((product) => ({ id: productId(product), ...wholeProduct(product) }))
    .filter(({ quantity }) => quantity > 0)
  const contents = bought.map(({ id, quantity, price }) =>
    present({ id, quantity: String(quantity), item_price: price === undefined ? undefined : String(price) }),
  )
  const { currency, order_id, query } = properties
  return {
    ...present({
      currency: typeof currency === 'string' ? currency.toUpperCase() : undefined,
      value: orderAmount(properties) ?? productsValue(products),
      order_id: typeof order_id === 'number' ? String(order_id) : order_id,
      search_string: query,
    }),
    ...(contents.length === 0
      ? {}
      : { contents, num_items: bought.reduce((total, { quantity }) => total + quantity, 0) }),
  }
}

/** Undefined unless each product has a price. */
function productsValue(products: readonly JsonObject[]): number | undefined {
  const values = products.map((product) => productAmount(product) ?? Number.NaN)
  const total = values.reduce((sum, value) => sum + value, 0)
  return values.length === 0 || Number.isNaN(total) ? undefined : Math.round(total * 100) / 100
}
