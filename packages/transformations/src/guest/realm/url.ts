import type { HostCall } from './run-program.ts'

/**
 * Runs inside the sandbox: URL and URLSearchParams. What they look like is made here, what they compute is asked for as
 * text. Its source crosses, so it may use nothing from outside of it.
 */
export function urlGlobals(host: HostCall): void {
  const { parse, stringify } = JSON
  const NativeTypeError = TypeError
  const { defineProperty, apply } = Reflect
  const { isArray } = Array
  const { entries } = Object
  const { toWellFormed } = String.prototype
  const iterator = Symbol.iterator
  const wellFormed = (value: unknown): string => apply(toWellFormed, `${value}`, [])

  type Pair = [name: string, value: string]
  type Parts = Record<string, string>

  interface Linked {
    readonly params: URLSearchParams
    follow(search: string): void
  }
  /** Parameters that follow the query of a URL, and tell it what changes. */
  let linked: (search: string, onChange: (search: string) => void) => Linked

  class URLSearchParams {
    #pairs: Pair[] = []
    #onChange: ((search: string) => void) | undefined

    constructor(init: unknown = '') {
      if (typeof init !== 'object' || init === null) {
        this.#read(wellFormed(init))
        return
      }
      const list = iterator in init ? [...(init as Iterable<Iterable<unknown>>)] : entries(init)
      for (const each of list) {
        const pair = isArray(each) ? each : [...each]
        if (pair.length !== 2) throw new NativeTypeError('Each query pair must be an iterable [name, value] tuple')
        this.#pairs.push([wellFormed(pair[0]), wellFormed(pair[1])])
      }
    }

    static {
      linked = (search, onChange) => {
        const params = new URLSearchParams(search)
        params.#onChange = onChange
        return { params, follow: (text) => params.#read(text) }
      }
    }

    get size() {
      return this.#pairs.length
    }
    append(name: unknown, value: unknown) {
      this.#pairs.push([wellFormed(name), wellFormed(value)])
      this.#changed()
    }
    delete(name: unknown, value?: unknown) {
      const [sought, only] = [wellFormed(name), value === undefined ? undefined : wellFormed(value)]
      this.#pairs = this.#pairs.filter((pair) => pair[0] !== sought || (only !== undefined && pair[1] !== only))
      this.#changed()
    }
    get(name: unknown) {
      const sought = wellFormed(name)
      return this.#pairs.find((pair) => pair[0] === sought)?.[1] ?? null
    }
    getAll(name: unknown) {
      const sought = wellFormed(name)
      return this.#pairs.filter((pair) => pair[0] === sought).map((pair) => pair[1])
    }
    has(name: unknown, value?: unknown) {
      const [sought, only] = [wellFormed(name), value === undefined ? undefined : wellFormed(value)]
      return this.#pairs.some((pair) => pair[0] === sought && (only === undefined || pair[1] === only))
    }
    set(name: unknown, value: unknown) {
      const [sought, text] = [wellFormed(name), wellFormed(value)]
      const first = this.#pairs.findIndex((pair) => pair[0] === sought)
      if (first === -1) this.#pairs.push([sought, text])
      else {
        this.#pairs[first] = [sought, text]
        this.#pairs = this.#pairs.filter((pair, at) => at <= first || pair[0] !== sought)
      }
      this.#changed()
    }
    sort() {
      this.#pairs.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0))
      this.#changed()
    }
    forEach(callback: (value: string, name: string, params: this) => void, receiver?: unknown) {
      for (const [name, value] of this.entries()) apply(callback, receiver, [value, name, this])
    }
    *entries(): Generator<Pair> {
      for (let at = 0; at < this.#pairs.length; at++) yield [this.#pairs[at]![0], this.#pairs[at]![1]]
    }
    *keys() {
      for (const pair of this.entries()) yield pair[0]
    }
    *values() {
      for (const pair of this.entries()) yield pair[1]
    }
    [iterator]() {
      return this.entries()
    }
    toString() {
      return host('query text', stringify(this.#pairs)) ?? ''
    }

    #read(text: string) {
      this.#pairs = parse(host('query pairs', text) ?? '[]') as Pair[]
    }
    #changed() {
      this.#onChange?.(this.toString())
    }
  }

  class URL {
    #parts: Parts
    #linked: Linked | undefined

    constructor(url: unknown, base?: unknown) {
      const parts = partsOf(url, base)
      if (parts === undefined) throw new NativeTypeError('Invalid URL')
      this.#parts = parts
    }

    static canParse(url: unknown, base?: unknown) {
      return partsOf(url, base) !== undefined
    }
    static parse(url: unknown, base?: unknown) {
      return partsOf(url, base) === undefined ? null : new URL(url, base)
    }

    get searchParams() {
      this.#linked ??= linked(this.#parts['search']!, (search) => this.#change('search', search))
      return this.#linked.params
    }
    get origin() {
      return this.#parts['origin']
    }
    toString() {
      return this.#parts['href']
    }
    toJSON() {
      return this.#parts['href']
    }

    #change(name: string, value: string) {
      const text = host('url with', this.#parts['href']!, name, value)
      if (text !== undefined) this.#parts = parse(text) as Parts
      else if (name === 'href') throw new NativeTypeError('Invalid URL')
    }

    static {
      const names = [
        'href',
        'protocol',
        'username',
        'password',
        'host',
        'hostname',
        'port',
        'pathname',
        'search',
        'hash',
      ]
      for (const name of names) {
        defineProperty(URL.prototype, name, {
          get(this: URL) {
            return this.#parts[name]
          },
          set(this: URL, value: unknown) {
            this.#change(name, wellFormed(value))
            this.#linked?.follow(this.#parts['search']!)
          },
          enumerable: true,
          configurable: true,
        })
      }
    }
  }

  function partsOf(url: unknown, base: unknown): Parts | undefined {
    const given = base === undefined ? [wellFormed(url)] : [wellFormed(url), wellFormed(base)]
    const text = host('url', ...given)
    return text === undefined ? undefined : (parse(text) as Parts)
  }

  for (const value of [URL, URLSearchParams]) {
    defineProperty(globalThis, value.name, { value, enumerable: false, configurable: true, writable: true })
  }
}
