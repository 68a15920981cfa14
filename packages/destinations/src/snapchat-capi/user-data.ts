import { isJsonObject, type JsonObject, type StoredEvent } from '@millrace/protocol'
import { deviceAddress, eventProperties, present } from '../event-facts.ts'
import { hashed, hashedPhone } from '../hashed.ts'
import { personOf } from '../person.ts'

/**
 * What Snapchat compares with its users; personal data is hashed. A phone number has no zeros before its country code.
 *
 * @throws Error for an event that it could compare with nobody.
 */
export function userData(event: StoredEvent): JsonObject {
  const { email, phone, firstName, lastName } = personOf(event)
  const { sc_click_id, sc_cookie1 } = eventProperties(event)
  const userAgent = isJsonObject(event['context']) ? event['context']['userAgent'] : undefined
  const data: JsonObject = {
    ...hashedList('em', email, hashed),
    ...hashedList('ph', phone?.replace(/^\D*0+/, ''), hashedPhone),
    ...hashedList('fn', firstName?.replace(/[^\p{L}]/gu, ''), hashed),
    ...hashedList('ln', lastName?.replace(/[^\p{L}]/gu, ''), hashed),
    ...present({
      client_ip_address: deviceAddress(event),
      client_user_agent: typeof userAgent === 'string' ? userAgent : undefined,
      sc_click_id,
      sc_cookie1,
    }),
  }
  const isComparable = 'em' in data || 'ph' in data || ('client_ip_address' in data && 'client_user_agent' in data)
  if (isComparable) return data
  throw new Error('traits.email, traits.phone, or context.ip and context.userAgent are missing')
}

function hashedList(name: string, text: string | undefined, hash: (text: string) => string): JsonObject {
  return text === undefined || text === '' ? {} : { [name]: [hash(text)] }
}
