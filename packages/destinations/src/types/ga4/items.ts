import { isJsonObject, type JsonObject } from '@millrace/protocol'
import { ITEM_NUMBERS, paramValue } from './numbers.ts'
import { snakeCase } from './snake-case.ts'

const ITEM_PARAMS = new Map([
  ['product_id', 'item_id'],
  ['sku', 'item_id'],
  ['name', 'item_name'],
  ['brand', 'item_brand'],
  ['category', 'item_category'],
  ['variant', 'item_variant'],
  ['position', 'index'],
])
/** Of an event with a product among its properties, those that describe the product. The id comes before the SKU. */
const PRODUCT_MEMBERS = [...ITEM_PARAMS.keys(), 'price', 'quantity']

/** The products of an event as Google's items, and the properties that are in them. */
export interface Items {
  readonly items: readonly JsonObject[]
  readonly properties: readonly string[]
}

const NO_ITEMS: Items = { items: [], properties: [] }

export function itemsOf(properties: JsonObject): Items {
  const { products, product_id, sku } = properties
  if (Array.isArray(products)) {
    const items = products.filter(isJsonObject).map((each) => itemOf([...PRODUCT_MEMBERS, ...Object.keys(each)], each))
    return items.length === 0 ? NO_ITEMS : { items, properties: ['products'] }
  }
  if (product_id === undefined && sku === undefined) return NO_ITEMS
  return { items: [itemOf(PRODUCT_MEMBERS, properties)], properties: PRODUCT_MEMBERS }
}

function itemOf(names: readonly string[], product: JsonObject): JsonObject {
  const item: JsonObject = {}
  for (const name of names) {
    const value = product[name]
    const param = ITEM_PARAMS.get(name) ?? snakeCase(name)
    if (value === undefined || value === null || param === '' || Object.hasOwn(item, param)) continue
    item[param] = paramValue(param, value, ITEM_NUMBERS)
  }
  return item
}
