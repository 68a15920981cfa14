import { isJsonObject, type JsonValue, memberPath, ownMember } from '@millrace/protocol'

/** A difference between result and expectation. */
export interface Mismatch {
  /** JSON pointer into the result. */
  readonly path: string
  readonly expected: JsonValue
  /** Undefined: no value. */
  readonly actual: JsonValue | undefined
}

/**
 * Compares the expected members, at every depth; the result may have more. Lists must have the expected length; the
 * order of members does not matter.
 */
export function mismatches(expected: JsonValue, actual: JsonValue | undefined, path = ''): Mismatch[] {
  if (isJsonObject(expected) && isJsonObject(actual)) {
    return Object.keys(expected).flatMap((name) =>
      mismatches(expected[name]!, ownMember(actual, name), memberPath(path, name)),
    )
  }
  if (Array.isArray(expected) && Array.isArray(actual) && expected.length === actual.length) {
    return expected.flatMap((element, i) => mismatches(element, actual[i], `${path}/${i}`))
  }
  return isScalar(expected) && expected === actual ? [] : [{ path, expected, actual }]
}

function isScalar(value: JsonValue): boolean {
  return typeof value !== 'object' || value === null
}
