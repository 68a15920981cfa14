import { byteForms, isJsonObject, type JsonValue, setMember } from '@millrace/protocol'
import { MASK } from './secrets.ts'
import { mapUrlSecrets } from './url-secrets.ts'

/** Below this length a secret is too likely to be an ordinary word: it is masked only where it is the whole text. */
const MIN_LENGTH_INSIDE_TEXT = 8
/** What a shorter secret looks like in another form may be longer; at this length it is no word either. */
const MIN_FORM_INSIDE_TEXT = 16

/**
 * Takes secrets out of what is shown, by value and wherever they stand: also inside longer text, and in their base64, hex
 * and percent-encoded forms. In base64 they may have been encoded together with other text.
 *
 * @see contracts/destinations.md §3
 */
export class Masking {
  readonly #whole: ReadonlySet<string>
  readonly #inside: RegExp | undefined

  constructor(secrets: Iterable<string>) {
    const known = [...secrets].filter((secret) => secret !== '')
    this.#whole = new Set(known.flatMap(formsOf))
    const inside = known.flatMap((secret) => {
      const minLength = secret.length < MIN_LENGTH_INSIDE_TEXT ? MIN_FORM_INSIDE_TEXT : MIN_LENGTH_INSIDE_TEXT
      return [...formsOf(secret), ...byteForms(secret)].filter((form) => form.length >= minLength)
    })
    const long = [...new Set(inside)]
    // Longer ones first: a secret may be part of another.
    long.sort((a, b) => b.length - a.length)
    this.#inside = long.length === 0 ? undefined : new RegExp(long.map(RegExp.escape).join('|'), 'g')
  }

  text(text: string): string {
    if (this.#whole.has(text)) return MASK
    return this.#inside === undefined ? text : text.replace(this.#inside, MASK)
  }

  /** An address: its user, its password and the values of its parameters are whole texts, however short they are. */
  address(text: string): string {
    return this.text(mapUrlSecrets(text, ({ value }) => (this.#whole.has(value) ? MASK : value)))
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
    ...percentForms(secret),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    JSON.stringify(secret).slice(1, -1),
  ]
}

/** As a part of a path, of a query, and of a form; with the digits of either case. */
function percentForms(secret: string): string[] {
  const encoded = encodeURIComponent(secret.toWellFormed())
  const lowerCase = encoded.replace(/%../g, (code) => code.toLowerCase())
  return [encoded, lowerCase, encoded.replaceAll('%20', '+'), lowerCase.replaceAll('%20', '+')]
}
