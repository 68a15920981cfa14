import type { JsonObject, StoredEvent } from '@millrace/protocol'
import { present } from '../../event/event-facts.ts'
import { googleConsent } from '../../event/google-consent.ts'

/**
 * The two answers of the user that the Measurement Protocol takes. For one that is missing Google goes by what the website or app has
 * told it.
 */
export function consent(event: StoredEvent, config: JsonObject): { consent?: JsonObject } {
  const { adUserData, adPersonalization } = googleConsent(event, config)
  const given = present({ ad_user_data: adUserData, ad_personalization: adPersonalization })
  return Object.keys(given).length === 0 ? {} : { consent: given }
}
