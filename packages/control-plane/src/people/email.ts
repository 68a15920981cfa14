const MAX_LENGTH = 254

/** Whether a text has the form of an e-mail address; the address may not exist. */
export function isEmail(text: string): boolean {
  return text.length <= MAX_LENGTH && /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u.test(text)
}
