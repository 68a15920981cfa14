import type { JsonObject } from '@millrace/protocol'

/*
 * Names that Google keeps for what its own libraries collect. It answers 2xx to them and drops them.
 *
 * Source: Measurement Protocol reference, "Reserved names"; for apps also the reference of FirebaseAnalytics.Event.
 */

const EVENTS = new Set([
  'ad_activeview',
  'ad_click',
  'ad_exposure',
  'ad_query',
  'ad_reward',
  'adunit_exposure',
  'app_clear_data',
  'app_exception',
  'app_install',
  'app_remove',
  'app_store_refund',
  'app_update',
  'app_upgrade',
  'dynamic_link_app_open',
  'dynamic_link_app_update',
  'dynamic_link_first_open',
  'error',
  'firebase_campaign',
  'firebase_in_app_message_action',
  'firebase_in_app_message_dismiss',
  'firebase_in_app_message_impression',
  'first_open',
  'first_visit',
  'notification_dismiss',
  'notification_foreground',
  'notification_open',
  'notification_receive',
  'notification_send',
  'os_update',
  'session_start',
  'user_engagement',
])
/** Google takes these from app streams only. */
const APP_EVENTS = new Set(['ad_impression', 'in_app_purchase', 'screen_view'])

const PREFIXES = ['firebase_', 'ga_', 'google_']

const USER_PROPERTIES = new Set([
  'first_open_time',
  'first_visit_time',
  'last_deep_link_referrer',
  'user_id',
  'first_open_after_install',
])

/** @param name in snake case. */
export function isReservedEventName(name: string, { measurementId }: JsonObject): boolean {
  if (EVENTS.has(name)) return true
  const isWeb = typeof measurementId === 'string' && measurementId !== ''
  return isWeb ? APP_EVENTS.has(name) : hasReservedPrefix(name)
}

/** @param name in snake case, so that it does not begin with `_`. */
export function isReservedParamName(name: string): boolean {
  return hasReservedPrefix(name)
}

/** @param name in snake case. */
export function isReservedUserProperty(name: string): boolean {
  return USER_PROPERTIES.has(name) || hasReservedPrefix(name)
}

function hasReservedPrefix(name: string): boolean {
  return PREFIXES.some((prefix) => name.startsWith(prefix))
}
