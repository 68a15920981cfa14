import { isJsonObject, type JsonValue, setMember } from '@millrace/protocol'
import { MASK, URL_PASSWORD } from './secrets.ts'

/** Below this length a secret is too likely to be an ordinary word: it is masked only where it is the whole text. */
const MIN_LENGTH_INSIDE_TEXT = 16

/**
 * Takes secrets out of what is shown, by value and wherever they stand: also inside longer text, and in their base64 and
 * percent-encoded forms.
 *
 * @see contracts/destinations.md §3
 */
export class Masking {
  readonly #whole: ReadonlySet<string>
  readonly #inside: RegExp | undefined

  constructor(secrets: Iterable<string>) {
    const forms = [...secrets].filter((secret) => secret !== '').flatMap(formsOf)
    this.#whole = new Set(forms)
    const long = [...this.#whole].filter((form) => form.length >= MIN_LENGTH_INSIDE_TEXT)
    // Longer ones first: a secret may be part of another.
    long.sort((a, b) => b.length - a.length)
    this.#inside = long.length === 0 ? undefined : new RegExp(long.map(RegExp.escape).join('|'), 'g')
  }

  text(text: string): string {
    if (this.#whole.has(text)) return MASK
    return this.#inside === undefined ? text : text.replace(this.#inside, MASK)
  }

  /** An address: its password is a whole text of its own, however short it is. */
  address(text: string): string {
    const masked = text.replace(URL_PASSWORD, (all, before: string, password: string) =>
      this.#whole.has(password) ? `${before}:${MASK}@` : all,
    )
    return this.text(masked)
  }

  /** A copy of a value with every text in it masked, names of members included. */
  value(value: JsonValue): JsonValue {
    if (typeof value === 'string') return this.text(value)
    if (Array.isArray(value)) return value.map((element) => this.value(element))
    if (!isJsonObject(value)) return this.#whole.has(String(value)) ? MASK : value
    const masked = {}
    for (const name of Object.keys(value)) setMember(masked, this.text(name), this.value(value[name]!))
    return masked
  }
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const base64 = bytes.toString('base64')
  return [
    secret,
    base64,
    base64.replace(/=+$/, ''),
    bytes.toString('base64url'),
    encodeURIComponent(secret.toWellFormed()),
    JSON.stringify(secret).slice(1, -1),
  ]
}
