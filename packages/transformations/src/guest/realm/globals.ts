import type { HostCall } from './run-program.ts'

/** By which the child gives an answer of the network to the code that waits for it. */
export interface Answering {
  /** @param answer TransformAnswer as JSON. */
  answer(fetchId: number, answer: string): void
}

/**
 * Runs inside the sandbox before any user code and makes its globals what contracts/transformations.md §4 says. Its
 * source crosses, so it may use nothing from outside of it. Those of the web are beside it.
 */
export function globals(host: HostCall, bounds: { maxTimeoutMs: number; maxLogLineChars: number }): Answering {
  const { parse, stringify } = JSON
  const { slice, replaceAll } = String.prototype
  const { ceil, min } = Math
  const { isView } = ArrayBuffer
  const NativeBuffer = ArrayBuffer
  const NativeMap = Map
  const NativeSet = Set
  const { apply, construct, defineProperty, deleteProperty, getPrototypeOf, get } = Reflect
  const { create, entries } = Object
  const NativePromise = Promise
  const NativeError = Error
  const NativeTypeError = TypeError
  const NativeRangeError = RangeError
  const NativeEvalError = EvalError
  const toText = String
  const realm = globalThis as unknown as Record<string, unknown>

  interface Waiting {
    readonly resolve: (value: unknown) => void
    readonly reject: (error: unknown) => void
    readonly isWhole: boolean
  }
  const waiting: Record<number, Waiting> = create(null)

  for (const name of ['WebAssembly', 'SharedArrayBuffer', 'console']) deleteProperty(realm, name)
  refuseCodeFromText()
  refuseResizableBuffers()

  for (const name of ['global', 'self']) provide(name, realm)
  provide('log', log)
  provide('console', { log })
  provide('getCredential', getCredential)
  provide('fetch', (url: unknown, options: unknown) => request(url, options, false))
  provide('fetchV2', (url: unknown, options: unknown) => request(url, options, true))
  provide('hash', {
    sha256: (text: unknown) => hashed('sha256', toText(text), ''),
    md5: (text: unknown) => hashed('md5', toText(text), ''),
    hmacSha256: (key: unknown, text: unknown) => hashed('hmacSha256', toText(key), toText(text)),
  })

  function provide(name: string, value: unknown): void {
    defineProperty(realm, name, { value, enumerable: false, configurable: true, writable: true })
  }

  function hashed(operation: string, first: string, second: string): string {
    const hex = host(operation, first, second)
    if (hex === undefined) throw new NativeRangeError('text is too long to be hashed')
    return hex
  }

  function log(...given: unknown[]): void {
    if (host('wants logs') === undefined) return
    let line = 'Log:'
    for (let at = 0; at < given.length; at++) line += ` ${logged(given[at])}`
    // What crosses is copied into the child's own heap, which has a bound for the whole run.
    host('log', apply(slice, line, [0, bounds.maxLogLineChars]) as string)
  }

  /** Never throws: the code would fail only where its lines are kept. */
  function logged(value: unknown): string {
    try {
      return typeof value === 'object' && value !== null ? shown(value) : toText(value)
    } catch {
      return '[cannot be shown]'
    }
  }

  /** JSON, in which an error would be an empty object. */
  function shown(value: unknown): string {
    const told = (error: Error) => `${error.name}: ${error.message}`
    if (value instanceof NativeError) return told(value)
    return stringify(value, (_, member) => (member instanceof NativeError ? told(member) : member))
  }

  function getCredential(key: unknown): string | undefined {
    if (key === null || key === undefined) throw new NativeTypeError('Key should be valid and defined')
    return host('credential', toText(key))
  }

  function request(url: unknown, options: unknown, isWhole: boolean): Promise<unknown> {
    return construct(NativePromise, [
      (resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
        const fail = (message: string) => (isWhole ? reject(failure(message)) : resolve('ERROR'))
        let text: string
        try {
          text = stringify(requestOf(url, options))
        } catch (error) {
          fail(`${(error as Error).message}`)
          return
        }
        const id = host('fetch', text) ?? '!'
        if (id[0] === '!') fail(apply(slice, id, [1]) as string)
        else waiting[id as unknown as number] = { resolve, reject, isWhole }
      },
    ]) as Promise<unknown>
  }

  /** An error whose message is there also where it is written as JSON: returned as an event, or as a part of one. */
  function failure(message: string): Error {
    const error = new NativeError(message)
    defineProperty(error, 'message', { enumerable: true })
    return error
  }

  function requestOf(url: unknown, options: unknown) {
    if (url === undefined || url === null || url === '') throw new NativeError('fetch url is required')
    const { method, headers, body: given, timeout } = (options ?? {}) as Record<string, unknown>
    const sent: Record<string, string> = {}
    let hasType = false
    for (const [name, value] of entries((headers ?? {}) as object)) {
      defineProperty(sent, name, { value: toText(value), enumerable: true, configurable: true })
      if (toText(name).toLowerCase() === 'content-type') hasType = true
    }
    const body = bodyOf(given)
    if (body?.type !== undefined && (!hasType || body.isTypeFixed)) {
      for (const name in sent) if (name.toLowerCase() === 'content-type') deleteProperty(sent, name)
      defineProperty(sent, 'content-type', { value: body.type, enumerable: true })
    }
    return {
      url: toText(url),
      method: method === undefined ? 'GET' : toText(method),
      headers: sent,
      ...(body === undefined ? {} : { body: body.text }),
      ...(typeof timeout === 'number' && timeout > 0 ? { timeoutMs: ceil(min(timeout, bounds.maxTimeoutMs)) } : {}),
    }
  }

  interface Body {
    readonly text: string
    readonly type?: string
    /** What the code says of it cannot be right. */
    readonly isTypeFixed?: boolean
  }

  function bodyOf(given: unknown): Body | undefined {
    if (given === undefined || given === null) return undefined
    if (typeof given === 'string') return { text: given }
    if (isForm(given)) {
      // Of the two, only URLSearchParams can be sorted.
      if (typeof given['sort'] !== 'function') return multipart(given)
      return { text: toText(given), type: 'application/x-www-form-urlencoded;charset=UTF-8' }
    }
    const text = isNoJson(given) ? undefined : (stringify(given) as string | undefined)
    if (text === undefined) throw new NativeTypeError('fetch body must be text, URLSearchParams, form data or JSON')
    return { text, type: 'application/json' }
  }

  /** URLSearchParams or FormData, or what a library has in their place. */
  function isForm(given: unknown): given is Record<string, unknown> & { entries(): Iterable<[unknown, unknown]> } {
    if (typeof given !== 'object') return false
    const { append, entries: pairs, getAll } = given as Record<string, unknown>
    return typeof append === 'function' && typeof pairs === 'function' && typeof getAll === 'function'
  }

  /** What JSON would make an empty or a wrong object of. */
  function isNoJson(given: unknown): boolean {
    const kinds = [NativeBuffer, NativeMap, NativeSet, NativePromise]
    for (let at = 0; at < kinds.length; at++) if (given instanceof kinds[at]!) return true
    return isView(given)
  }

  /** As browsers write it. */
  function multipart(form: { entries(): Iterable<[unknown, unknown]> }): Body {
    const escaped = (name: unknown) => {
      let text = toText(name)
      const replaced = [
        ['\r', '%0D'],
        ['\n', '%0A'],
        ['"', '%22'],
      ] as const
      for (let at = 0; at < replaced.length; at++) text = apply(replaceAll, text, replaced[at]!) as string
      return text
    }
    const parts: Record<number, string> = create(null)
    let count = 0
    let all = ''
    for (const [name, value] of form.entries()) {
      const part = `\r\nContent-Disposition: form-data; name="${escaped(name)}"\r\n\r\n${toText(value)}\r\n`
      parts[count++] = part
      all += part
    }
    // No part holds the hash of all of them, unless somebody can invert it.
    const boundary = `millrace-${hashed('sha256', all, '')}`
    let text = ''
    for (let at = 0; at < count; at++) text += `--${boundary}${parts[at]}`
    text += `--${boundary}--\r\n`
    return { text, type: `multipart/form-data; boundary=${boundary}`, isTypeFixed: true }
  }

  function answer(fetchId: number, text: string): void {
    const one = waiting[fetchId]
    if (one === undefined) return
    delete waiting[fetchId]
    const received = parse(text)
    if (!received.ok) {
      if (one.isWhole) one.reject(failure(received.message))
      else one.resolve('ERROR')
      return
    }
    const { url, status, headers } = received
    let { body } = received
    let isJson = true
    try {
      body = parse(body)
    } catch {
      isJson = false
    }
    if (one.isWhole) one.resolve({ url, status, headers, body })
    else one.resolve(isJson ? body : 'ERROR')
  }

  /** eval and all constructors of functions; the originals stay reachable from nowhere. */
  function refuseCodeFromText(): void {
    const refuse = (name: string, prototype: object | undefined) => {
      const refused = {
        [name]: (): never => {
          throw new NativeEvalError('code from text is not allowed')
        },
      }[name]!
      if (prototype === undefined) return refused
      defineProperty(refused, 'prototype', { value: prototype, writable: false })
      defineProperty(prototype, 'constructor', {
        value: refused,
        enumerable: false,
        configurable: true,
        writable: true,
      })
      return refused
    }
    const prototypeOf = (sample: unknown) => getPrototypeOf(sample as object) as object
    refuse(
      'AsyncFunction',
      prototypeOf(async () => {}),
    )
    refuse(
      'GeneratorFunction',
      prototypeOf(function* () {}),
    )
    refuse(
      'AsyncGeneratorFunction',
      prototypeOf(async function* () {}),
    )
    provide(
      'Function',
      refuse(
        'Function',
        prototypeOf(() => {}),
      ),
    )
    provide('eval', refuse('eval', undefined))
  }

  /** Their memory is reserved to the largest length that they may grow to. */
  function refuseResizableBuffers(): void {
    const Native = ArrayBuffer
    const Bounded = function (this: unknown, length: unknown, options: unknown) {
      if (new.target === undefined) throw new NativeTypeError("Constructor ArrayBuffer requires 'new'")
      if (typeof options === 'object' && options !== null && get(options, 'maxByteLength') !== undefined) {
        throw new NativeRangeError('maxByteLength is not allowed')
      }
      return construct(Native, [length], new.target)
    }
    defineProperty(Bounded, 'name', { value: 'ArrayBuffer', configurable: true })
    defineProperty(Bounded, 'prototype', { value: Native.prototype, writable: false })
    defineProperty(Bounded, 'isView', { value: Native.isView, configurable: true, writable: true })
    defineProperty(Bounded, Symbol.species, {
      get: function (this: unknown) {
        return this
      },
      configurable: true,
    })
    defineProperty(Native.prototype, 'constructor', { value: Bounded, configurable: true, writable: true })
    provide('ArrayBuffer', Bounded)
  }

  return { answer }
}
