/** A phone number in the form of E.164, such as `+436601234567`; undefined if it lacks its country code. */
export function e164(phone: string | undefined): string | undefined {
  const number = phone?.replace(/[\s().\-/]/g, '').replace(/^00/, '+')
  return number !== undefined && /^\+[1-9]\d{6,14}$/.test(number) ? number : undefined
}
