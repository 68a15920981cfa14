/** Runs inside the sandbox: structuredClone. Its source crosses, so it may use nothing from outside of it. */
export function structuredCloneGlobal(): void {
  const { defineProperty, getPrototypeOf, ownKeys } = Reflect
  const { isArray } = Array
  const { hasOwn, keys } = Object
  const { isView } = ArrayBuffer
  const NativeError = Error
  const errorTypes: Record<string, ErrorConstructor> = {
    Error,
    EvalError,
    RangeError,
    ReferenceError,
    SyntaxError,
    TypeError,
    URIError,
  }
  type Constructor = new (...given: unknown[]) => object
  const typeOf = (value: object) => Object.prototype.toString.call(value).slice(8, -1)

  function structuredClone(value: unknown, options: { transfer?: Iterable<ArrayBuffer> } = {}): unknown {
    const known = new Map<object, object>()
    for (const buffer of options?.transfer ?? []) {
      if (!(buffer instanceof ArrayBuffer)) throw notCloneable('Value')
      known.set(buffer, buffer.transfer())
    }
    return clone(value, known)
  }

  function clone(value: unknown, known: Map<object, object>): unknown {
    if (typeof value === 'symbol' || typeof value === 'function') throw notCloneable(String(value))
    if (typeof value !== 'object' || value === null) return value
    const before = known.get(value)
    if (before !== undefined) return before
    const keep = <T extends object>(copy: T): T => {
      known.set(value, copy)
      return copy
    }
    if (value instanceof Date) return keep(new Date(value.getTime()))
    if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags))
    if (value instanceof ArrayBuffer) return keep(value.slice(0))
    if (isView(value)) {
      const buffer = clone(value.buffer, known) as ArrayBuffer
      const length = value instanceof DataView ? value.byteLength : (value as Uint8Array).length
      return keep(new (value.constructor as Constructor)(buffer, value.byteOffset, length))
    }
    if (value instanceof Map) {
      const copy = keep(new Map())
      for (const [key, each] of [...value]) copy.set(clone(key, known), clone(each, known))
      return copy
    }
    if (value instanceof Set) {
      const copy = keep(new Set())
      for (const each of [...value]) copy.add(clone(each, known))
      return copy
    }
    if (value instanceof NativeError) return keep(cloneError(value, known))
    const type = typeOf(value)
    if (type === 'Boolean' || type === 'Number' || type === 'String' || type === 'BigInt') {
      if (getPrototypeOf(value) !== Object.prototype) return keep(Object((value as { valueOf(): unknown }).valueOf()))
    }
    if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet || value instanceof WeakRef) {
      throw notCloneable(`#<${type}>`)
    }
    const copy = keep<Record<string, unknown>>((isArray(value) ? new Array(value.length) : {}) as never)
    for (const key of keys(value)) {
      const each = clone((value as Record<string, unknown>)[key], known)
      defineProperty(copy, key, { value: each, enumerable: true, configurable: true, writable: true })
    }
    return copy
  }

  function cloneError(error: Error, known: Map<object, object>): Error {
    const copy = new (errorTypes[error.name] ?? NativeError)(error.message)
    for (const key of ownKeys(error)) {
      if (key !== 'stack' && key !== 'cause') continue
      const each = clone(error[key], known)
      defineProperty(copy, key, { value: each, enumerable: false, configurable: true, writable: true })
    }
    if (!hasOwn(error, 'message')) delete (copy as { message?: string }).message
    return copy
  }

  function notCloneable(shown: string): Error {
    const error = new NativeError(`${shown} could not be cloned.`)
    defineProperty(error, 'name', { value: 'DataCloneError', configurable: true, writable: true })
    return error
  }

  defineProperty(globalThis, 'structuredClone', {
    value: structuredClone,
    enumerable: false,
    configurable: true,
    writable: true,
  })
}
