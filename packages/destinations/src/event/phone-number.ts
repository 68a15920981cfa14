/** A phone number in the form of E.164, such as `+436601234567`; undefined if it lacks its country code. */
export function e164(phone: string | undefined): string | undefined {
  if (phone === undefined) return undefined
  const number = withoutTrunkZero(phone)
    .replace(/[\s().\-/]/g, '')
    .replace(/^00/, '+')
  return /^\+[1-9]\d{6,14}$/.test(number) ? number : undefined
}

/** The digits of a phone number, without zeros before its country code. */
export function phoneDigits(phone: string): string {
  return withoutTrunkZero(phone).replace(/\D/g, '').replace(/^0+/, '')
}

/** Without a `(0)` after the country code, which is dialled only within the country. In Italy the zero belongs to the number. */
export function withoutTrunkZero(phone: string): string {
  return phone.replace(/^(\s*(?:\+|00)\s*(?!39\D)\d{1,3}\s*)\(0\)/, '$1')
}
