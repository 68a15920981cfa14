import type { JsonObject, StoredEvent } from '@millrace/protocol'
import { byLetters } from '../../event/letters.ts'
import { templateOf } from '../../messages/event-templates.ts'

const standardName = byLetters({
  'Order Completed': 'PURCHASE',
  'Product Added': 'ADD_CART',
  'Product Added to Wishlist': 'ADD_TO_WISHLIST',
  'Product Viewed': 'VIEW_CONTENT',
  'Product List Viewed': 'LIST_VIEW',
  'Products Searched': 'SEARCH',
  'Checkout Started': 'START_CHECKOUT',
  'Payment Info Entered': 'ADD_BILLING',
  'Signed Up': 'SIGN_UP',
  'Signed In': 'LOGIN',
  'Product Shared': 'SHARE',
})

/** The name that Snapchat knows; undefined for an event that has none, which is not sent. */
export function snapchatName(event: StoredEvent, { eventNames }: JsonObject): string | undefined {
  if (event.type === 'page') return 'PAGE_VIEW'
  const configured = Array.isArray(eventNames) ? templateOf(event, eventNames)?.['name'] : undefined
  if (typeof configured === 'string') return configured
  return typeof event['event'] === 'string' ? standardName(event['event']) : undefined
}
