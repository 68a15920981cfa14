import { byteForms } from '@millrace/protocol'
import { MAX_FAILURE_CHARS, MAX_LOG_LINE_BYTES } from '../limits.ts'

const MASK = '********'
/** A shorter form, such as the base64 of a few letters, would be found in ordinary words. The value itself has no bound. */
const MIN_FORM_LENGTH = 6
/** Of a form at the end of a text that was cut; what is shorter tells nothing. */
const MIN_BEGINNING = 4

/**
 * Takes the values of credentials out of what user code logs and throws: as they are, and in base64, hex, JSON and URI
 * form, also in the middle of what was encoded together with them.
 */
export class CredentialMask {
  readonly #values: readonly string[]
  /** Made when there is something to show: most runs neither log nor fail. Longer ones first: one may be a part of another. */
  #forms: readonly string[] | undefined

  constructor(values: readonly string[]) {
    this.#values = values.filter((value) => value !== '')
  }

  logLine(line: string): string {
    return this.#masked(line, Buffer.byteLength(line) > MAX_LOG_LINE_BYTES - 4)
  }

  /** As long as a failure text may be. */
  failure(text: string): string {
    return this.#masked(text, text.length === MAX_FAILURE_CHARS).slice(0, MAX_FAILURE_CHARS)
  }

  #masked(text: string, isCut: boolean): string {
    if (this.#values.length === 0) return text
    this.#forms ??= [...new Set(this.#values.flatMap(formsOf))].sort((a, b) => b.length - a.length)
    const masked = text.replace(new RegExp(this.#forms.map(RegExp.escape).join('|'), 'g'), MASK)
    return isCut ? withoutBeginning(masked, this.#forms) : masked
  }
}

/** Of a value that the end of the text has cut, what came before the cut. */
function withoutBeginning(text: string, forms: readonly string[]): string {
  const lengths = forms.map((form) => {
    let length = Math.min(form.length - 1, text.length)
    while (length >= MIN_BEGINNING && !text.endsWith(form.slice(0, length))) length--
    return length < MIN_BEGINNING ? 0 : length
  })
  const longest = Math.max(0, ...lengths)
  return longest === 0 ? text : text.slice(0, -longest) + MASK
}

function formsOf(value: string): string[] {
  const text = value.toWellFormed()
  const uri = [encodeURIComponent(text), encodeURI(text), new URLSearchParams([['', text]]).toString().slice(1)]
  const forms = [
    JSON.stringify(value).slice(1, -1),
    ...uri,
    ...uri.map((form) => form.replace(/%../g, (byte) => byte.toLowerCase())),
    ...byteForms(text),
  ]
  return [value, ...forms.filter((form) => form.length >= MIN_FORM_LENGTH)]
}
