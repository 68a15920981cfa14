import { isJsonObject, type JsonObject, type JsonValue } from '@millrace/protocol'
import { amountOf } from './amount.ts'

/*
 * The products of an event of the e-commerce specification: those of `properties.products`, or the one that the properties
 * describe themselves.
 */

/** The listed products, else the properties if they name a product. */
export function productsOf(properties: JsonObject): JsonObject[] {
  const { products } = properties
  if (Array.isArray(products)) return products.filter(isJsonObject)
  return productId(properties) === undefined ? [] : [properties]
}

/** `product_id`, else `sku`. */
export function productId({ product_id, sku }: JsonObject): string | undefined {
  return idText(product_id) ?? idText(sku)
}

/** Price × quantity, also of 2.5 or of none; undefined without a price. */
export function productAmount(product: JsonObject): number | undefined {
  const price = amountOf(product['price'])
  return price === undefined ? undefined : price * quantityOf(product)
}

/** For services that take whole quantities: 2.5 at a price of 4 are 1 at a price of 10. */
export function wholeProduct(product: JsonObject): { quantity: number; price: number | undefined } {
  const quantity = quantityOf(product)
  return Number.isSafeInteger(quantity)
    ? { quantity, price: amountOf(product['price']) }
    : { quantity: 1, price: productAmount(product) }
}

/** 1 where the product has none. */
function quantityOf({ quantity }: JsonObject): number {
  const number = amountOf(quantity)
  return number !== undefined && Number.isFinite(number) && number >= 0 ? number : 1
}

/** The amount of an order or cart: `total`, else `revenue`, else `value`. */
export function orderAmount({ total, revenue, value }: JsonObject): number | undefined {
  return amountOf(total) ?? amountOf(revenue) ?? amountOf(value)
}

function idText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}
