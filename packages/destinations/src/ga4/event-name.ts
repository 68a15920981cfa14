import type { StoredEvent } from '@millrace/protocol'
import { trackName } from '../event-facts.ts'

/** What Google calls events that others have a name for, too. @see docs/destinations/ga4.md */
const NAMES = new Map([
  ['Order Completed', 'purchase'],
  ['Order Refunded', 'refund'],
  ['Product Added', 'add_to_cart'],
  ['Product Removed', 'remove_from_cart'],
  ['Product Viewed', 'view_item'],
  ['Product Clicked', 'select_item'],
  ['Product List Viewed', 'view_item_list'],
  ['Cart Viewed', 'view_cart'],
  ['Checkout Started', 'begin_checkout'],
  ['Payment Info Entered', 'add_payment_info'],
  ['Products Searched', 'search'],
  ['Product Added to Wishlist', 'add_to_wishlist'],
  ['Promotion Viewed', 'view_promotion'],
  ['Promotion Clicked', 'select_promotion'],
  ['Signed Up', 'sign_up'],
  ['Signed In', 'login'],
])

const MAX_NAME_LENGTH = 40

/** @throws Error for a name in which there is no letter. */
export function ga4Name(event: StoredEvent): string {
  if (event.type === 'page') return 'page_view'
  if (event.type === 'screen') return 'screen_view'
  const name = trackName(event)
  const known = NAMES.get(name) ?? snakeCase(name)
  if (known === '') throw new Error('event has no letter in its name')
  return known
}

/** Lower snake case of letters, digits and `_`, beginning with a letter, at most 40 characters. */
export function snakeCase(name: string): string {
  const words = name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1_$2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^[^\p{L}]+/u, '')
  return Array.from(words).slice(0, MAX_NAME_LENGTH).join('').replace(/_+$/, '')
}
