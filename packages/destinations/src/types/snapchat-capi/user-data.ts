import { isJsonObject, type JsonObject, type StoredEvent } from '@millrace/protocol'
import { deviceAddress, eventProperties, present } from '../../event/event-facts.ts'
import { hashed } from '../../event/hashed.ts'
import { personOrForm } from '../../event/person.ts'
import { phoneDigits } from '../../event/phone-number.ts'

/**
 * What Snapchat compares with its users; personal data is hashed. A phone number has no zeros before its country code.
 *
 * @throws Error for an event that it could compare with nobody.
 */
export function userData(event: StoredEvent): JsonObject {
  const { email, phone, firstName, lastName } = personOrForm(event)
  const { sc_click_id, sc_cookie1 } = eventProperties(event)
  const userAgent = isJsonObject(event['context']) ? event['context']['userAgent'] : undefined
  const data: JsonObject = {
    ...hashedList('em', email, (text) => text),
    ...hashedList('ph', phone, phoneDigits),
    ...hashedList('fn', firstName, lettersOf),
    ...hashedList('ln', lastName, lettersOf),
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

/** Normalizes and hashes a value; one that is hashed already stays as it is. */
function hashedList(name: string, value: string | undefined, normalize: (value: string) => string): JsonObject {
  if (value === undefined) return {}
  const text = SHA256.test(value) ? value : normalize(value.toLowerCase())
  return text === '' ? {} : { [name]: [hashed(text)] }
}

const SHA256 = /^[0-9a-f]{64}$/

function lettersOf(name: string): string {
  return name.normalize('NFC').replace(/[^\p{L}]/gu, '')
}
