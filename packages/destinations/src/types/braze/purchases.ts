import { isJsonObject, type JsonObject, setMember } from '@millrace/protocol'
import { productId, wholeProduct } from '../../event/products.ts'

/** Braze takes at most 100 of a product in one purchase, and 75 purchases in one request. */
const MAX_QUANTITY = 100
const MAX_PURCHASES = 75

/** Members of a product that a purchase has fields for. */
const OWN_FIELDS = new Set(['product_id', 'price', 'quantity', 'currency'])

/**
 * The products of an order as purchases without their user and time; empty if the order lists none.
 *
 * @throws Error where Braze would refuse a purchase.
 * @see https://www.braze.com/docs/api/objects_filters/purchase_object
 */
export function purchasesOf(properties: JsonObject): JsonObject[] {
  const { products } = properties
  const listed = Array.isArray(products) ? products.filter(isJsonObject) : []
  const purchases = listed.flatMap((product, at) =>
    purchasesOfProduct(product, `properties.products[${at}]`, properties),
  )
  if (purchases.length > MAX_PURCHASES) {
    throw new Error(`properties.products gives ${purchases.length} purchases; Braze takes ${MAX_PURCHASES} at once`)
  }
  return purchases
}

function purchasesOfProduct(product: JsonObject, place: string, order: JsonObject): JsonObject[] {
  const id = productId(product) ?? product['name']
  if (typeof id !== 'string' || id === '') throw new Error(`${place} has no product_id, sku or name`)
  const { quantity, price } = wholeProduct(product)
  if (price === undefined) throw new Error(`${place}.price is missing`)
  const currency = product['currency'] ?? order['currency']
  if (typeof currency !== 'string' || currency === '') throw new Error('properties.currency is missing')
  const purchase = { product_id: id, currency: currency.toUpperCase(), price }
  const properties = productProperties(product, order)
  return quantities(quantity).map((each) => ({ ...purchase, quantity: each, properties }))
}

function quantities(total: number): number[] {
  const full = Math.floor(total / MAX_QUANTITY)
  // More than a request takes is refused: it need not be counted out.
  if (full > MAX_PURCHASES)
    throw new Error(`a product has the quantity ${total}; Braze takes ${MAX_QUANTITY * MAX_PURCHASES}`)
  const rest = total % MAX_QUANTITY
  return [...Array<number>(full).fill(MAX_QUANTITY), ...(rest === 0 ? [] : [rest])]
}

function productProperties(product: JsonObject, { order_id }: JsonObject): JsonObject {
  const properties: JsonObject = order_id === undefined || order_id === null ? {} : { order_id }
  for (const [name, value] of Object.entries(product)) if (!OWN_FIELDS.has(name)) setMember(properties, name, value)
  return properties
}
