/** Where a text stops being JSON, 1-based, and the engine's error text, without the place that some texts have. */
export interface JsonFault {
  readonly line: number
  readonly column: number
  readonly message: string
}

const SPACE = /\s*/y
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

const OWN_PLACE = / in JSON at position \d.*$/s

/** The place of the first error, which engines often omit. Undefined for valid JSON. */
export function jsonFault(text: string): JsonFault | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    const before = text.slice(0, new Scanner(text).faultAt()).split('\n')
    const message = (error as SyntaxError).message.replace(OWN_PLACE, '')
    return { line: before.length, column: before.at(-1)!.length + 1, message }
  }
}

/** Reads a text as far as it is valid JSON. */
class Scanner {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Offset of the first invalid character; the length if the end is missing. */
  faultAt(): number {
    if (this.#value()) this.#take(SPACE)
    return this.#at
  }

  /** @returns whether there was one; otherwise the offset is at the error. */
  #value(): boolean {
    this.#take(SPACE)
    if (this.#is('{')) return this.#list('}', () => this.#member())
    if (this.#is('[')) return this.#list(']', () => this.#value())
    return this.#take(STRING) || this.#take(SCALAR)
  }

  #list(end: string, element: () => boolean): boolean {
    this.#take(SPACE)
    if (this.#is(end)) return true
    do if (!element()) return false
    while (this.#isNext(','))
    return this.#is(end)
  }

  #member(): boolean {
    this.#take(SPACE)
    return this.#take(STRING) && this.#isNext(':') && this.#value()
  }

  #isNext(mark: string): boolean {
    this.#take(SPACE)
    return this.#is(mark)
  }

  #is(mark: string): boolean {
    if (this.#text[this.#at] !== mark) return false
    this.#at++
    return true
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)
    if (found !== null) this.#at = pattern.lastIndex
    return found !== null
  }
}
