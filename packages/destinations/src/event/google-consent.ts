import type { JsonObject, JsonValue, StoredEvent } from '@millrace/protocol'
import { contextObject } from './event-facts.ts'

type Answer = 'GRANTED' | 'DENIED' | undefined

/**
 * The two answers of the user that Google's services take. The event's own come before those of the configuration, also where they
 * are neither: then nothing is said.
 */
export function googleConsent(
  event: StoredEvent,
  { adUserData, adPersonalization }: JsonObject,
): { readonly adUserData: Answer; readonly adPersonalization: Answer } {
  const { ad_user_data, ad_personalization } = contextObject(event, 'consent')
  return {
    adUserData: answer(ad_user_data ?? adUserData),
    adPersonalization: answer(ad_personalization ?? adPersonalization),
  }
}

function answer(value: JsonValue | undefined): Answer {
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
