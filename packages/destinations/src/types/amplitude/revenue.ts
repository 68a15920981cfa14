import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol'
import { amountOf } from '../../event/amount.ts'
import { present } from '../../event/event-facts.ts'

/** Amplitude takes fewer than 2,000 events in one request; the order and its attribution are two of them. */
const MAX_PRODUCTS = 1_997

/**
 * The revenue of an event by its `properties`; empty without `revenue`.
 *
 * Given all three, Amplitude counts price × quantity and not `revenue`, so these go along only where they agree with it.
 */
export function eventRevenue(properties: JsonObject): JsonObject {
  const revenue = amountOf(properties['revenue'])
  if (revenue === undefined) return {}
  const price = amountOf(properties['price'])
  const quantity = wholeNumberOf(properties['quantity'])
  const agrees = price !== undefined && Math.abs(price * (quantity ?? 1) - revenue) < 0.005
  return present({ ...(agrees ? { price, quantity } : {}), revenue, ...productOf(properties) })
}

/** The products of an order: those of an event with a revenue. @throws Error for too many. */
export function orderedProducts({ revenue, products }: JsonObject): JsonObject[] {
  if (amountOf(revenue) === undefined || !Array.isArray(products)) return []
  if (products.length > MAX_PRODUCTS) {
    throw new Error(`properties.products has ${products.length} products; Amplitude takes ${MAX_PRODUCTS} at once`)
  }
  return products.filter(isJsonObject)
}

/** The revenue of one product; empty without a price, and for a quantity of 0. A quantity of 2.5 becomes 1 at 2.5 times the price. */
export function productRevenue(product: JsonObject): JsonObject {
  const price = amountOf(product['price'])
  const quantity = amountOf(product['quantity'])
  if (price === undefined || quantity === 0) return {}
  const isPart = quantity !== undefined && !Number.isSafeInteger(quantity)
  const sold = isPart ? { price: price * quantity, quantity: 1 } : { price, quantity }
  return present({ ...sold, ...productOf(product) })
}

function productOf({ product_id, sku, revenueType }: JsonObject): Record<string, JsonValue | undefined> {
  const id = product_id ?? sku
  return { productId: typeof id === 'number' ? String(id) : id, revenueType }
}

function wholeNumberOf(value: JsonValue | undefined): number | undefined {
  const number = amountOf(value)
  return Number.isSafeInteger(number) ? number : undefined
}
