import type { HostCall } from './run-program.ts'

/**
 * Runs inside the sandbox: TextEncoder, TextDecoder, atob and btoa. Its source crosses, so it may use nothing from
 * outside of it.
 */
export function encodingGlobals(host: HostCall): void {
  const NativeTypeError = TypeError
  const NativeRangeError = RangeError
  const NativeError = Error
  const { defineProperty } = Reflect
  const Bytes = Uint8Array
  const { isView } = ArrayBuffer
  const { fromCharCode } = String

  class TextEncoder {
    get encoding() {
      return 'utf-8'
    }
    encode(input: unknown = '') {
      const text = `${input}`
      const bytes = new Bytes(text.length * 3)
      return bytes.slice(0, write(text, bytes).written)
    }
    encodeInto(source: unknown, destination: Uint8Array) {
      return write(`${source}`, destination)
    }
  }

  /** Half a pair of surrogates becomes U+FFFD; a character that does not fit any more is not begun. */
  function write(text: string, bytes: Uint8Array): { read: number; written: number } {
    let written = 0
    let read = 0
    while (read < text.length) {
      let point = text.codePointAt(read)!
      const units = point > 0xffff ? 2 : 1
      if (point >= 0xd800 && point < 0xe000) point = 0xfffd
      const size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
      if (written + size > bytes.length) break
      if (size === 1) bytes[written] = point
      else {
        const mark = size === 2 ? 0xc0 : size === 3 ? 0xe0 : 0xf0
        bytes[written] = mark | (point >> (6 * (size - 1)))
        for (let rest = 1; rest < size; rest++)
          bytes[written + rest] = 0x80 | ((point >> (6 * (size - 1 - rest))) & 0x3f)
      }
      written += size
      read += units
    }
    return { read, written }
  }

  class TextDecoder {
    readonly #encoding: string
    readonly #fatal: boolean
    readonly #ignoreBOM: boolean
    /** Bytes of a stream that are not decoded yet, one in each character. */
    #pending = ''
    #hasBegun = false

    constructor(label: unknown = 'utf-8', options: { fatal?: unknown; ignoreBOM?: unknown } = {}) {
      const encoding = host('encoding', `${label}`)
      if (encoding === undefined) throw new NativeRangeError(`The "${label}" encoding is not supported`)
      this.#encoding = encoding
      this.#fatal = !!options?.fatal
      this.#ignoreBOM = !!options?.ignoreBOM
    }
    get encoding() {
      return this.#encoding
    }
    get fatal() {
      return this.#fatal
    }
    get ignoreBOM() {
      return this.#ignoreBOM
    }
    decode(input?: ArrayBuffer | ArrayBufferView, options: { stream?: unknown } = {}) {
      const isStream = !!options?.stream
      const bytes = this.#pending + textOfBytes(input)
      const end = isStream ? wholeCharacters(bytes, this.#encoding) : bytes.length
      const keepsMark = this.#ignoreBOM || this.#hasBegun
      const flags = `${this.#fatal ? 'fatal ' : ''}${keepsMark ? 'bom' : ''}`
      const text = end === 0 ? '' : host('decode', this.#encoding, bytes.slice(0, end), flags)
      this.#pending = isStream ? bytes.slice(end) : ''
      this.#hasBegun = isStream && (this.#hasBegun || end > 0)
      if (text === undefined) throw new NativeTypeError('The encoded data was not valid')
      return text
    }
  }

  function textOfBytes(input: ArrayBuffer | ArrayBufferView | undefined): string {
    if (input === undefined) return ''
    const bytes = isView(input) ? new Bytes(input.buffer, input.byteOffset, input.byteLength) : new Bytes(input)
    let text = ''
    for (let at = 0; at < bytes.length; at += 8_192) text += fromCharCode(...bytes.subarray(at, at + 8_192))
    return text
  }

  /** How many bytes can be decoded now. What no rule is known for here waits for the end of its stream. */
  function wholeCharacters(bytes: string, encoding: string): number {
    if (encoding === 'utf-16le' || encoding === 'utf-16be') {
      const even = bytes.length - (bytes.length % 2)
      const high = even < 2 ? 0 : bytes.charCodeAt(encoding === 'utf-16le' ? even - 1 : even - 2)
      return high >= 0xd8 && high < 0xdc ? even - 2 : even
    }
    if (encoding !== 'utf-8') return 0
    for (let back = 1; back <= 3 && back <= bytes.length; back++) {
      const byte = bytes.charCodeAt(bytes.length - back)
      if (byte < 0x80) return bytes.length
      if (byte >= 0xc0) return (byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4) > back ? bytes.length - back : bytes.length
    }
    return bytes.length
  }

  function converter(operation: string) {
    return (input: unknown) => {
      const text = host(operation, `${input}`)
      if (text !== undefined) return text
      const error = new NativeError('The string contains invalid characters')
      defineProperty(error, 'name', { value: 'InvalidCharacterError', configurable: true, writable: true })
      throw error
    }
  }

  const globals = { TextEncoder, TextDecoder, atob: converter('atob'), btoa: converter('btoa') }
  for (const name of ['TextEncoder', 'TextDecoder', 'atob', 'btoa'] as const) {
    defineProperty(globalThis, name, { value: globals[name], enumerable: false, configurable: true, writable: true })
  }
}
