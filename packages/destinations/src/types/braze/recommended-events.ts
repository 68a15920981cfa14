import type { JsonObject, JsonValue, StoredEvent } from '@millrace/protocol'
import { amountOf } from '../../event/amount.ts'
import { contextObject, eventProperties } from '../../event/event-facts.ts'
import { byLetters } from '../../event/letters.ts'
import { orderAmount, productId, productsOf, wholeProduct } from '../../event/products.ts'

/*
 * Braze's recommended events for e-commerce. It validates them against a schema, so an event that lacks a required value is
 * refused here, with its place.
 *
 * @see https://www.braze.com/docs/user_guide/data/activation/events/recommended_events
 */

interface Recommended {
  readonly name: string
  /** Required and optional properties besides amount, currency, products and source. */
  readonly required: readonly string[]
  readonly optional: readonly string[]
}

const recommended = byLetters<Recommended>({
  'Cart Viewed': { name: 'ecommerce.cart_updated', required: ['cart_id'], optional: [] },
  'Cart Updated': { name: 'ecommerce.cart_updated', required: ['cart_id'], optional: [] },
  'Checkout Started': { name: 'ecommerce.checkout_started', required: ['checkout_id'], optional: ['cart_id'] },
  'Order Completed': { name: 'ecommerce.order_placed', required: ['order_id'], optional: ['cart_id'] },
  'Order Refunded': { name: 'ecommerce.order_refunded', required: ['order_id'], optional: [] },
  'Order Cancelled': { name: 'ecommerce.order_cancelled', required: ['order_id', 'cancel_reason'], optional: [] },
})
const isProductView = byLetters<true>({ 'Product Viewed': true })

/** Names and properties of a recommended event; undefined for a track that has none. @throws Error for a missing value. */
export function recommendedEvent(
  event: StoredEvent,
  name: string,
): { name: string; properties: JsonObject } | undefined {
  const properties = eventProperties(event)
  const source = sourceOf(event)
  if (isProductView(name)) {
    const product = recommendedProduct(properties, 'properties')
    return { name: 'ecommerce.product_viewed', properties: { ...product, currency: currencyOf(properties), source } }
  }
  const known = recommended(name)
  if (known === undefined) return undefined
  const products = productsOf(properties).flatMap((product, at) => {
    const { quantity, price } = wholeProduct(product)
    const known = recommendedProduct(product, `properties.products[${at}]`)
    return quantity === 0 ? [] : [{ ...known, quantity, price: price! }]
  })
  if (products.length === 0) throw missing('properties.products')
  const total = orderAmount(properties)
  if (total === undefined) throw missing('properties.total')
  const discount = amountOf(properties['discount'])
  return {
    name: known.name,
    properties: {
      ...Object.fromEntries(known.required.map((each) => [each, idOf(properties, each)])),
      ...Object.fromEntries(
        known.optional.filter((each) => isId(properties[each])).map((each) => [each, idOf(properties, each)]),
      ),
      total_value: total,
      currency: currencyOf(properties),
      ...(discount === undefined ? {} : { total_discounts: discount }),
      products,
      source,
    },
  }
}

/** A product without its quantity. */
function recommendedProduct(product: JsonObject, place: string): JsonObject {
  const id = productId(product)
  if (id === undefined) throw missing(`${place}.product_id`)
  const { name, variant, sku, image_url, url } = product
  if (typeof name !== 'string' || name === '') throw missing(`${place}.name`)
  const price = amountOf(product['price'])
  if (price === undefined) throw missing(`${place}.price`)
  return {
    product_id: id,
    product_name: name,
    variant_id: isId(variant) ? String(variant) : isId(sku) ? String(sku) : id,
    ...(isId(image_url) ? { image_url } : {}),
    ...(isId(url) ? { product_url: url } : {}),
    price,
    ...metadataOf(product),
  }
}

const PRODUCT_FIELDS = new Set(['product_id', 'name', 'variant', 'image_url', 'url', 'quantity', 'price', 'currency'])

function metadataOf(product: JsonObject): JsonObject {
  const rest = Object.entries(product).filter(([name, value]) => !PRODUCT_FIELDS.has(name) && value !== null)
  return rest.length === 0 ? {} : { metadata: Object.fromEntries(rest) }
}

/** Where the event comes from: the site of a page, the name of an app, else the channel. */
function sourceOf(event: StoredEvent): string {
  const page = contextObject(event, 'page')['url']
  const origin = typeof page === 'string' ? URL.parse(page)?.origin : undefined
  if (origin !== undefined && origin !== 'null') return origin
  const app = contextObject(event, 'app')['name']
  if (typeof app === 'string' && app !== '') return app
  const { channel } = event
  return typeof channel === 'string' && channel !== '' ? channel : 'server'
}

function currencyOf({ currency }: JsonObject): string {
  if (typeof currency !== 'string' || currency === '') throw missing('properties.currency')
  return currency.toUpperCase()
}

function idOf(properties: JsonObject, name: string): string {
  const value = properties[name] ?? (name === 'cancel_reason' ? properties['reason'] : undefined)
  if (!isId(value)) throw missing(`properties.${name}`)
  return String(value)
}

function isId(value: JsonValue | undefined): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && value !== '')
}

function missing(place: string): Error {
  return new Error(`${place} is missing: Braze requires it in this recommended event`)
}
