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
export function globals(host: HostCall): Answering {
  const { parse, stringify } = JSON
  const { slice } = String.prototype
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
    for (let at = 0; at < given.length; at++) {
      const value = given[at]
      const isAnObject = typeof value === 'object' && value !== null
      line += ` ${isAnObject ? stringify(value) : toText(value)}`
    }
    host('log', line)
  }

  function getCredential(key: unknown): string | undefined {
    if (key === null || key === undefined) throw new NativeTypeError('Key should be valid and defined')
    return host('credential', toText(key))
  }

  function request(url: unknown, options: unknown, isWhole: boolean): Promise<unknown> {
    return construct(NativePromise, [
      (resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
        const fail = (message: string) => (isWhole ? reject(new NativeError(message)) : resolve('ERROR'))
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

  function requestOf(url: unknown, options: unknown) {
    if (url === undefined || url === null || url === '') throw new NativeError('fetch url is required')
    const { method, headers, body } = (options ?? {}) as Record<string, unknown>
    const sent: Record<string, string> = {}
    let hasType = false
    for (const [name, value] of entries((headers ?? {}) as object)) {
      defineProperty(sent, name, { value: toText(value), enumerable: true })
      if (toText(name).toLowerCase() === 'content-type') hasType = true
    }
    const isText = typeof body === 'string'
    const hasBody = body !== undefined && body !== null
    if (hasBody && !isText && !hasType)
      defineProperty(sent, 'content-type', { value: 'application/json', enumerable: true })
    return {
      url: toText(url),
      method: method === undefined ? 'GET' : toText(method),
      headers: sent,
      ...(hasBody ? { body: isText ? body : stringify(body) } : {}),
    }
  }

  function answer(fetchId: number, text: string): void {
    const one = waiting[fetchId]
    if (one === undefined) return
    delete waiting[fetchId]
    const received = parse(text)
    if (!received.ok) {
      if (one.isWhole) one.reject(new NativeError(received.message))
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
