import type { JsonObject, JsonValue, StoredEvent } from '@millrace/protocol'
import { contextObject, present } from '../../event/event-facts.ts'

/**
 * The two answers of the user that the Measurement Protocol takes. The event's own come before those of the configuration;
 * for one that is missing Google goes by what the website or app has told it.
 */
export function consent(event: StoredEvent, { adUserData, adPersonalization }: JsonObject): { consent?: JsonObject } {
  const { ad_user_data, ad_personalization } = contextObject(event, 'consent')
  const given = present({
    ad_user_data: answer(ad_user_data) ?? answer(adUserData),
    ad_personalization: answer(ad_personalization) ?? answer(adPersonalization),
  })
  return Object.keys(given).length === 0 ? {} : { consent: given }
}

function answer(value: JsonValue | undefined): 'GRANTED' | 'DENIED' | undefined {
  switch (typeof value === 'string' ? value.toUpperCase() : value) {
    case 'GRANTED':
    case true:
      return 'GRANTED'
    case 'DENIED':
    case false:
      return 'DENIED'
    default:
      return undefined
  }
}
