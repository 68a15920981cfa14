/** Merges two ordered lists. A caller that stops early closes both. */
export function* mergedBy<T>(a: Iterable<T>, b: Iterable<T>, comesFirst: (one: T, other: T) => boolean): Generator<T> {
  const left = a[Symbol.iterator]()
  const right = b[Symbol.iterator]()
  try {
    let one = left.next()
    let other = right.next()
    while (!one.done || !other.done) {
      if (other.done || (!one.done && comesFirst(one.value, other.value))) {
        yield one.value as T
        one = left.next()
      } else {
        yield other.value
        other = right.next()
      }
    }
  } finally {
    left.return?.()
    right.return?.()
  }
}
