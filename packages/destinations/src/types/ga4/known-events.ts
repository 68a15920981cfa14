import type { JsonObject } from '@millrace/protocol'
import { byLetters } from '../../event/letters.ts'

/** What Google calls an event of the ecommerce specification, and its properties where the names differ. */
export interface KnownEvent {
  readonly name: string
  /** Property → param. The first of several properties for one param wins. */
  readonly params?: Readonly<Record<string, string>>
  readonly fixed?: JsonObject
  /** Properties that name a person. Google forbids them. */
  readonly withheld?: readonly string[]
}

const PROMOTION = { creative: 'creative_name', position: 'creative_slot', name: 'promotion_name' }
const COUPON = { coupon_name: 'coupon' }

/** @see docs/destinations/ga4.md, "What is mapped" */
const EVENTS: Readonly<Record<string, KnownEvent>> = {
  'Order Completed': { name: 'purchase' },
  'Order Refunded': { name: 'refund' },
  'Product Added': { name: 'add_to_cart' },
  'Wishlist Product Added to Cart': { name: 'add_to_cart' },
  'Product Removed': { name: 'remove_from_cart' },
  'Product Viewed': { name: 'view_item' },
  'Product Clicked': { name: 'select_item', params: { list_id: 'item_list_id' } },
  'Product List Viewed': { name: 'view_item_list', params: { list_id: 'item_list_id' } },
  'Cart Viewed': { name: 'view_cart' },
  'Checkout Started': { name: 'begin_checkout' },
  'Checkout Step Completed': { name: 'checkout_progress', params: { step: 'checkout_step' } },
  'Payment Info Entered': { name: 'add_payment_info', params: { payment_method: 'payment_type' } },
  'Shipping Info Entered': { name: 'add_shipping_info', params: { shipping_method: 'shipping_tier' } },
  'Coupon Entered': { name: 'coupon_entered', params: COUPON },
  'Coupon Applied': { name: 'coupon_applied', params: COUPON },
  'Coupon Denied': { name: 'coupon_denied', params: COUPON },
  'Coupon Removed': { name: 'coupon_removed', params: COUPON },
  'Products Searched': { name: 'search' },
  'Product Added to Wishlist': { name: 'add_to_wishlist' },
  'Promotion Viewed': { name: 'view_promotion', params: PROMOTION },
  'Promotion Clicked': { name: 'select_promotion', params: PROMOTION },
  'Product Shared': {
    name: 'share',
    params: { share_via: 'method', product_id: 'item_id', sku: 'item_id' },
    fixed: { content_type: 'product' },
    withheld: ['recipient'],
  },
  'Cart Shared': {
    name: 'share',
    params: { share_via: 'method', cart_id: 'item_id' },
    fixed: { content_type: 'cart' },
    withheld: ['recipient'],
  },
  'Campaign Details': { name: 'campaign_details', params: { name: 'campaign' } },
  'Signed Up': { name: 'sign_up' },
  'Signed In': { name: 'login' },
}

/** The event of a name in any letter case and spacing: `order completed`, `orderCompleted`. */
export const knownEvent = byLetters(EVENTS)
